import { NativeSelect } from '#components/ui/native-select';
import { DayRange } from '#components/usage/day-range';
import { namesOf } from '#lib/console/usage/metrics';
import type { RangeName } from '#lib/core/charts/ranges';

/** The range that a page shows. */
export interface ShownRange {
  readonly range: RangeName | 'custom';
  /** The first and the last day of the range, in the workspace's zone: "2026-11-22". */
  readonly days: { readonly first: string; readonly last: string };
}

interface RangeSelectProps extends ShownRange {
  /** Of the URL: a named range, or the edges of a custom one, of which `to` is exclusive. */
  onChange(next: { range?: RangeName; from: string | null; to: string | null }): void;
}

const ranges: Readonly<Record<RangeName | 'custom', string>> = {
  '24h': 'Last 24 hours',
  today: 'Today',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  month: 'This month',
  'last-month': 'Last month',
  '90d': 'Last 90 days',
  '12m': 'Last 12 months',
  custom: 'Custom range',
};

/** Chooses a range of time: a named one, or days. */
export function RangeSelect({ range, days: { first, last }, onChange }: RangeSelectProps) {
  return (
    <>
      <NativeSelect
        label="Range"
        className="sm:w-40"
        value={range}
        options={namesOf(ranges).map((value) => ({ value, label: ranges[value] }))}
        onChange={(chosen) => {
          const next = namesOf(ranges).find((name) => name === chosen) ?? 'custom';
          if (next === 'custom') onChange({ from: first, to: dayAfter(last) });
          else onChange({ range: next, from: null, to: null });
        }}
      />
      {range === 'custom' ? (
        <DayRange
          key={`${first} ${last}`}
          first={first}
          last={last}
          onChange={(from, to) => onChange({ from, to: dayAfter(to) })}
        />
      ) : null}
    </>
  );
}

/** "2026-11-30" → "2026-12-01": the end of a range is exclusive. */
function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
