'use client';

import { parseAsString, useQueryStates } from 'nuqs';
import { useTransition } from 'react';
import { NativeSelect } from '#components/ui/native-select';

interface Choice {
  readonly value: string;
  readonly label: string;
}

interface LedgerBarProps {
  months: readonly Choice[];
  kinds: readonly Choice[];
}

/** The filters of the ledger, kept in the URL; the old lines stay until the new ones have loaded. */
export function LedgerBar({ months, kinds }: LedgerBarProps) {
  const [pending, startTransition] = useTransition();
  const [chosen, set] = useQueryStates(
    {
      month: parseAsString.withDefault(''),
      kind: parseAsString.withDefault(''),
      after: parseAsString,
      from: parseAsString,
      to: parseAsString,
    },
    { shallow: false, history: 'push', startTransition },
  );
  const elsewhere = { after: null, from: null, to: null };
  return (
    <search
      aria-label="Filter ledger lines"
      aria-busy={pending}
      className="flex flex-wrap items-center gap-2"
    >
      <NativeSelect
        label="Month"
        className="min-w-40 flex-1 sm:flex-none"
        value={chosen.month}
        options={months}
        onChange={(month) => set({ ...elsewhere, month: month || null })}
      />
      <NativeSelect
        label="Kind"
        className="min-w-40 flex-1 sm:flex-none"
        value={chosen.kind}
        options={kinds}
        onChange={(kind) => set({ ...elsewhere, kind: kind || null })}
      />
      <span role="status" className="text-muted text-xs">
        {pending ? 'Loading…' : ''}
      </span>
    </search>
  );
}
