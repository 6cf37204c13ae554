import { logFiltersOf } from '#lib/console/usage/log-link';
import { type MetricName, metrics, type UsagePoint } from '#lib/console/usage/metrics';
import type { Grouping } from '#lib/console/usage/parameters';
import type { SeriesSplit, UsageSeries } from '#lib/control/operations/usage/series';
import type { UsageFilters } from '#lib/control/operations/usage/sums';
import { errorClasses } from '#lib/gateway/settlement/pure/error-class';

const outcomeNames: Readonly<Record<string, string>> = {
  ok: 'Succeeded',
  client: 'Client error',
  limit: 'Limit reached',
  provider: 'Provider error',
  timeout: 'Timed out',
  broken: 'Cut off',
  gateway: 'Gateway error',
  other: 'Earlier errors',
};

/**
 * How to split the series; null if its sums are enough, as for token classes and for outcomes of requests and
 * errors.
 */
export function splitOf(metric: MetricName, by: Grouping): SeriesSplit | null {
  if (by === 'none' || by === 'class' || countsOutcomes(metric, by)) return null;
  return by;
}

function countsOutcomes(metric: MetricName, by: Grouping): boolean {
  return by === 'outcome' && (metric === 'requests' || metric === 'errors');
}

/** A group of a chart. */
export interface ShownGroup {
  /** Its value in URLs. */
  readonly id: string;
  readonly label: string;
  /** Whether it combines everything that has no group of its own. */
  readonly rest: boolean;
  readonly points: readonly (number | null)[];
  readonly total: number | null;
  readonly calls: readonly (number | null)[];
  /** How many calls it counts, and their cost in exact dollars; null: costs are not known by group. */
  readonly totalCalls: number;
  readonly cost: string | null;
  /** Further figures of all its calls; null: they are not known by group. */
  readonly more: {
    readonly errors: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
    /** Calls whose feedback has a score, and the good ones among them. */
    readonly rated: number;
    readonly good: number;
    /** Calls from the cache, which no other figure counts, and what they would have cost, exact dollars. */
    readonly cacheHits: number;
    readonly saved: string;
  } | null;
  /** The filters of the log that find its calls; null: no filters do. */
  readonly filters: Readonly<Record<string, string>> | null;
}

/** The groups of a series as a chart shows them, largest first. */
export function groupsOf(
  series: UsageSeries,
  { metric, by, filters }: { metric: MetricName; by: Grouping; filters: UsageFilters },
): ShownGroup[] {
  const errors = metric === 'errors';
  const [all] = series.groups;
  if (by === 'class' && all) return classesOf(all, filters);
  if (countsOutcomes(metric, by) && all) return outcomesOf(all, filters, errors);
  const { value } = metrics[metric];
  const split = splitOf(metric, by);
  return series.groups.map((group) => ({
    id: group.value === null ? 'others' : group.value || 'none',
    label: labelOf(by, group.value, group.name),
    rest: split !== null && group.value === null,
    points: group.points.map(value),
    total: value(group.total),
    calls: group.points.map(({ calls, errors: failed }) => (errors ? failed : calls)),
    totalCalls: errors ? group.total.errors : group.total.calls,
    cost: group.total.cost,
    more: moreOf(group.total),
    filters: logFiltersOf({ by: split, value: group.value, filters, errors }),
  }));
}

function moreOf(total: SeriesGroup['total']) {
  const { errors, inputTokens, outputTokens, rated, good, cacheHits, saved } = total;
  return { errors, inputTokens, outputTokens, rated, good, cacheHits, saved };
}

type SeriesGroup = UsageSeries['groups'][number];

function classesOf(all: SeriesGroup, filters: UsageFilters): ShownGroup[] {
  const found = logFiltersOf({ by: null, value: null, filters, errors: false });
  return (['input-tokens', 'cached-tokens', 'cache-writes', 'output-tokens'] as const).map((name) => ({
    id: name,
    label: metrics[name].label,
    rest: false,
    points: all.points.map(metrics[name].value),
    total: metrics[name].value(all.total),
    calls: all.points.map(({ calls }) => calls),
    totalCalls: all.total.calls,
    cost: all.total.cost,
    more: null,
    filters: found,
  }));
}

function outcomesOf(all: SeriesGroup, filters: UsageFilters, errorsOnly: boolean): ShownGroup[] {
  const names = errorsOnly ? errorClasses : (['ok', ...errorClasses] as const);
  const counted = (name: (typeof names)[number]) => (point: UsagePoint) =>
    name === 'ok' ? point.calls - point.errors : point.errorsBy[name];
  const groups = names.map((name) => {
    const points = all.points.map(counted(name));
    const filter = { by: 'outcome', value: name, filters, errors: errorsOnly } as const;
    return {
      id: name,
      label: labelOf('outcome', name, null),
      rest: false,
      points,
      total: counted(name)(all.total),
      calls: points,
      totalCalls: counted(name)(all.total),
      cost: null,
      more: null,
      // The log has no calls from before errors had causes.
      filters: name === 'other' ? null : logFiltersOf(filter),
    };
  });
  return groups.filter(({ total }) => total > 0).sort((a, b) => b.total - a.total);
}

/** The label of a group. @param value null: all others; empty: calls without a value. */
export function labelOf(by: Grouping, value: string | null, name: string | null): string {
  if (by === 'none') return 'All calls';
  if (value === null) return 'Others';
  if (by === 'key') return name ?? 'Deleted key';
  if (by === 'member') return name ?? (value === '' ? 'Keys without a member' : 'Former user');
  if (by === 'outcome') return outcomeNames[value] ?? value;
  if (value === '') return by === 'provider' ? 'No provider' : 'No model';
  return value;
}
