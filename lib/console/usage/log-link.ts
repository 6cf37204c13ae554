import { noneCounted } from '#lib/control/operations/call/usage-filters';
import type { SeriesSplit } from '#lib/control/operations/usage/series';
import type { UsageFilters } from '#lib/control/operations/usage/sums';

/** What a figure of usage counts, in any range of time. */
export interface Counted {
  readonly by: SeriesSplit | null;
  /** Of the group; null: of all, or of those that have no group of their own. */
  readonly value: string | null;
  readonly filters: UsageFilters;
  /** Its errors alone. */
  readonly errors: boolean;
}

/**
 * The filters of the log that find exactly the calls that a figure counts, once its range of time is added.
 * @returns null for a group of many values: no filter finds these; and for the errors of what succeeded.
 */
export function logFiltersOf({ by, value, filters, errors }: Counted): Record<string, string> | null {
  if (by !== null && value === null) return null;
  if (errors && by === 'outcome' && value === 'ok') return null;
  const asked: Record<string, string> = {};
  for (const [name, given] of [...Object.entries(filters), [by, value] as const]) {
    if (name === null || given === undefined || given === null) continue;
    asked[name === 'model' ? 'countedModel' : name] = given === '' ? noneCounted : given;
  }
  if (errors && asked.outcome === undefined) asked.outcome = 'error';
  return asked;
}
