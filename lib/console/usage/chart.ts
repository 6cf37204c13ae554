import { bucketLabels } from '#lib/console/show/bucket-labels';
import { type FigureKind, showFigure } from '#lib/console/show/figure';
import { groupsOf, type ShownGroup } from '#lib/console/usage/groups';
import { type MetricName, metrics } from '#lib/console/usage/metrics';
import type { Grouping } from '#lib/console/usage/parameters';
import type { UsageSeries } from '#lib/control/operations/usage/series';
import type { UsageFilters } from '#lib/control/operations/usage/sums';
import { dayStart } from '#lib/core/charts/zone';

/** A chart and its table, ready to draw in the browser. */
export interface ChartData {
  readonly title: string;
  readonly kind: FigureKind;
  /** Amounts are stacked; quantiles are lines beside each other. */
  readonly shape: 'bars' | 'lines';
  /** ISO moments at which the buckets begin, and the end of the last. */
  readonly starts: readonly string[];
  readonly end: string;
  readonly shortLabels: readonly string[];
  /** Places that the axis names, where not as many of them as there is room for. */
  readonly ticks: readonly number[] | null;
  readonly longLabels: readonly string[];
  readonly groups: readonly ShownGroup[];
  /** All groups together, by bucket; null: nothing is there to add up. */
  readonly totals: readonly (number | null)[];
  readonly total: number | null;
  /** How many calls all of them are, and what they cost, exact dollars. */
  readonly allCalls: number;
  readonly allCost: string;
  /** The period before, by bucket. */
  readonly before: readonly (number | null)[];
  readonly beforeTotal: number | null;
  /** "/acme/logs"; the filters of everything that is shown. */
  readonly logPath: string;
  readonly filters: Readonly<Record<string, string>> | null;
  /** What it shows, in a sentence. */
  readonly summary: string;
}

interface Shown {
  readonly metric: MetricName;
  readonly by: Grouping;
  readonly filters: UsageFilters;
  /** Slug. */
  readonly workspace: string;
}

/** @param everything the filters of the log that find all calls of the chart. */
export function chartOf(
  series: UsageSeries,
  { workspace, ...shown }: Shown,
  everything: Readonly<Record<string, string>> | null,
): ChartData {
  const { kind, value, label } = metrics[shown.metric];
  const startsMs = series.starts.map((start) => Date.parse(start));
  const labels = bucketLabels(startsMs, Date.parse(series.to), series.step, series.timeZone);
  const groups = groupsOf(series, shown);
  const bars = kind !== 'span';
  const total = value(series.total);
  return {
    title: label,
    kind,
    shape: bars ? 'bars' : 'lines',
    starts: series.starts,
    end: series.to,
    shortLabels: labels.map(({ short }) => short),
    ticks: ticksOf(startsMs, series.timeZone),
    longLabels: labels.map(({ long }) => long),
    groups,
    totals: bars
      ? startsMs.map((_, at) => groups.reduce((sum, { points }) => sum + (points[at] ?? 0), 0))
      : [],
    total,
    allCalls: shown.metric === 'errors' ? series.total.errors : series.total.calls,
    allCost: series.total.cost,
    before: series.before.points.map(value),
    beforeTotal: value(series.before.total),
    logPath: `/${workspace}/logs`,
    filters: everything,
    summary: summaryOf({ title: label, kind, groups, total }, labels.length),
  };
}

/** Of hours of several days the axis names the days. */
function ticksOf(startsMs: readonly number[], zone: string): number[] | null {
  const days = startsMs.flatMap((startMs, at) => (dayStart(startMs, zone) === startMs ? [at] : []));
  return days.length > 1 && days.length < startsMs.length ? days : null;
}

function summaryOf(
  { title, kind, groups, total }: Pick<ChartData, 'title' | 'kind' | 'groups' | 'total'>,
  buckets: number,
): string {
  const [largest] = groups;
  const most =
    groups.length > 1 && largest ? ` Largest: ${largest.label}, ${showFigure(kind, largest.total)}.` : '';
  return `${title} in ${buckets} ${buckets === 1 ? 'step' : 'steps'}: ${showFigure(kind, total)}.${kind === 'span' ? '' : most} The table below has every figure.`;
}
