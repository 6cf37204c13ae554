'use client';

import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { useTransition } from 'react';
import { ToggleGroup } from '#components/ui/toggle-group';
import { overviewRanges } from '#lib/console/usage/parameters';

const options = [
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
] as const;

/** The time range of the figures; the old figures stay until the new ones have loaded. */
export function RangeChoice() {
  const [pending, startTransition] = useTransition();
  const [range, setRange] = useQueryState(
    'range',
    parseAsStringLiteral(overviewRanges)
      .withDefault('7d')
      .withOptions({ shallow: false, history: 'push', startTransition }),
  );
  return (
    <div aria-busy={pending} className="flex items-center gap-3">
      <span role="status" className="text-muted text-xs">
        {pending ? 'Loading…' : ''}
      </span>
      <ToggleGroup label="Range" value={range} options={options} onChange={(next) => setRange(next)} />
    </div>
  );
}
