import { noneCounted } from '#lib/control/operations/call/usage-filters';
import type { SeriesSplit } from '#lib/control/operations/usage/series';
import type { UsageFilters } from '#lib/control/operations/usage/sums';

/** What a usage figure counts, in any time range. */
export interface Counted {
  readonly by: SeriesSplit | null;
  /** The value of the group; null: all calls, or those without a group of their own. */
  readonly value: string | null;
  readonly filters: UsageFilters;
  /** Whether it counts only errors. */
  readonly errors: boolean;
}

/**
 * The filters of the log that find exactly the calls of a figure, once its time range is added.
 * @returns null if no filter finds them: a group of many values, or the errors of successful calls.
 */
export function logFiltersOf({ by, value, filters, errors }: Counted): Record<string, string> | null {
  if (by !== null && value === null) return null;
  if (errors && by === 'outcome' && value === 'ok') return null;
  const asked: Record<string, string> = { usage: 'counted' };
  for (const [name, given] of [...Object.entries(filters), [by, value] as const]) {
    if (name === null || given === undefined || given === null) continue;
    asked[name === 'model' ? 'countedModel' : name] = given === '' ? noneCounted : given;
  }
  if (errors && asked.outcome === undefined) asked.outcome = 'error';
  return asked;
}
