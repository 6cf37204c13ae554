import { colourOf, Swatch } from '#components/charts/chart-style';
import { showFigure } from '#lib/console/show/figure';
import type { ChartData } from '#lib/console/usage/chart';

interface ChartTooltipProps {
  chart: ChartData;
  drawn: readonly number[];
  compared: boolean;
  /** Index of the bucket; null: none. */
  at: number | null;
}

/** The figures of one bucket. */
export function ChartTooltip({ chart, drawn, compared, at }: ChartTooltipProps) {
  if (at === null) return null;
  const groups = drawn
    .map((index) => ({ index, group: chart.groups[index], value: chart.groups[index]?.points[at] ?? null }))
    .filter(({ value }) => value !== null && value !== 0);
  const before = chart.before[at] ?? null;
  return (
    <div className="max-w-72 rounded-lg border bg-surface px-3 py-2 text-xs shadow-pop">
      <p className="mb-1 font-medium">{chart.longLabels[at]}</p>
      {groups.length === 0 ? <p className="text-muted">No calls</p> : null}
      <ul className="grid gap-0.5">
        {groups.map(({ index, group, value }) => (
          <li key={index} className="flex items-center gap-2">
            <Swatch colour={colourOf(index, group?.rest)} />
            <span className="min-w-0 flex-1 truncate text-muted">{group?.label}</span>
            <span className="tabular-nums">{showFigure(chart.kind, value)}</span>
          </li>
        ))}
      </ul>
      {chart.shape === 'bars' && groups.length > 1 ? (
        <p className="mt-1 flex justify-between gap-4 border-t pt-1">
          <span className="text-muted">Total</span>
          <span className="tabular-nums">{showFigure(chart.kind, chart.totals[at] ?? null)}</span>
        </p>
      ) : null}
      {compared ? (
        <p className="mt-1 flex justify-between gap-4 text-muted">
          <span>Previous period</span>
          <span className="tabular-nums">{showFigure(chart.kind, before)}</span>
        </p>
      ) : null}
    </div>
  );
}
