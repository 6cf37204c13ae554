'use client';

import { useState } from 'react';
import { ConnectionNote } from '#components/live/connection-note';
import { usePoll } from '#components/live/use-poll';
import { Section } from '#components/section';
import type { UseRow } from '#lib/console/show/key/use';

interface LiveUseProps {
  rows: readonly UseRow[];
  /** URL that returns the current rows. */
  address: string;
}

/** Limits and caps with their current use, updated while the page is visible. */
export function LiveUse({ rows: first, address }: LiveUseProps) {
  const [rows, setRows] = useState(first);
  const connection = usePoll<{ rows: readonly UseRow[] }>(address, 3_000, (now) => setRows(now.rows));
  return (
    <Section title="Current usage" note={<ConnectionNote connection={connection} />}>
      <dl className="grid gap-px overflow-hidden rounded-b-lg bg-line sm:grid-cols-2">
        {rows.map((row) => (
          <div
            key={row.name}
            className="grid content-start gap-1.5 bg-surface px-4 py-3 sm:last:odd:col-span-2"
          >
            <dt className="flex justify-between gap-3 text-muted text-xs">
              {row.name}
              <span className="text-right">{row.note}</span>
            </dt>
            <dd className="tabular-nums">
              <span className="font-semibold">{row.used}</span>{' '}
              <span className="text-muted">{row.limit === null ? 'no limit' : `of ${row.limit}`}</span>
              {row.part === null ? null : <Meter name={row.name} part={row.part} />}
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

function Meter({ name, part }: { name: string; part: number }) {
  const shown = Math.min(1, Math.max(0, part));
  const tone = part >= 1 ? 'fill-bad' : part >= 0.8 ? 'fill-warn' : 'fill-accent';
  return (
    <svg
      role="img"
      aria-label={`${name}: ${Math.round(part * 100)}% used`}
      className="mt-1.5 block h-1 w-full rounded-full bg-hover"
      preserveAspectRatio="none"
    >
      <rect width={`${shown * 100}%`} height="100%" rx="2" className={tone} />
    </svg>
  );
}
