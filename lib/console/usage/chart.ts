import { bucketLabels } from '#lib/console/show/bucket-labels';
import { type FigureKind, showFigure } from '#lib/console/show/figure';
import { groupsOf, type ShownGroup } from '#lib/console/usage/groups';
import { type MetricName, metrics } from '#lib/console/usage/metrics';
import type { Grouping } from '#lib/console/usage/parameters';
import type { UsageSeries } from '#lib/control/operations/usage/series';
import type { UsageFilters } from '#lib/control/operations/usage/sums';
import { dayStart } from '#lib/core/charts/zone';

/** A chart and its table, as data for the browser. */
export interface ChartData {
  readonly title: string;
  readonly kind: FigureKind;
  /** Amounts are stacked; quantiles are separate lines. */
  readonly shape: 'bars' | 'lines';
  /** ISO start times of the buckets, and the end of the last one. */
  readonly starts: readonly string[];
  readonly end: string;
  readonly shortLabels: readonly string[];
  /** Indexes of the buckets that the axis labels; null: as many as there is room for. */
  readonly ticks: readonly number[] | null;
  readonly longLabels: readonly string[];
  readonly groups: readonly ShownGroup[];
  /** The sum of all groups, by bucket; empty for quantiles. */
  readonly totals: readonly (number | null)[];
  readonly total: number | null;
  /** The number of calls in the chart, and their cost in exact dollars. */
  readonly allCalls: number;
  readonly allCost: string;
  /** The previous period, by bucket. */
  readonly before: readonly (number | null)[];
  readonly beforeTotal: number | null;
  /** "/acme/logs", and the filters that find all calls of the chart. */
  readonly logPath: string;
  readonly filters: Readonly<Record<string, string>> | null;
  /** One sentence about its contents. */
  readonly summary: string;
}

interface Shown {
  readonly metric: MetricName;
  readonly by: Grouping;
  readonly filters: UsageFilters;
  /** Slug. */
  readonly workspace: string;
}

/** @param everything filters of the log that find all calls of the chart. */
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

/** For hours over several days, the axis labels the days. */
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
