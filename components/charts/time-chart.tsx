'use client';

import { useRouter } from 'next/navigation';
import { useMemo } from 'react';
import {
  Bar,
  CartesianGrid,
  ComposedChart,
  Line,
  ResponsiveContainer,
  Tooltip,
  type TooltipContentProps,
  XAxis,
  YAxis,
} from 'recharts';
import { chartHeight, colourOf } from '#components/charts/chart-style';
import { ChartTooltip } from '#components/charts/chart-tooltip';
import { axisOf } from '#lib/console/usage/axis';
import type { ChartData } from '#lib/console/usage/chart';
import { logHref } from '#lib/console/usage/log-href';

interface TimeChartProps {
  chart: ChartData;
  /** Indexes of the groups that are drawn. */
  drawn: readonly number[];
  /** Whether the previous period is drawn behind them. */
  compared: boolean;
}

/** A chart of usage over time; clicking a bar opens the log filtered to its calls. */
export default function TimeChart({ chart, drawn, compared }: TimeChartProps) {
  const router = useRouter();
  const rows = useMemo(
    () =>
      chart.starts.map((_, at) => ({
        at,
        before: chart.before[at] ?? null,
        ...Object.fromEntries(chart.groups.map(({ points }, index) => [`g${index}`, points[at] ?? null])),
      })),
    [chart],
  );
  const open = (index: number) => (_: unknown, at: number) => {
    const filters = chart.groups[index]?.filters;
    const [from, to] = [chart.starts[at], chart.starts[at + 1] ?? chart.end];
    if (filters && from) router.push(logHref(chart.logPath, filters, { from, to }));
  };
  const lines = chart.shape === 'lines';
  const axis = useMemo(() => axisOf(chart.kind, largestOf(chart, drawn, compared)), [chart, drawn, compared]);
  return (
    <ResponsiveContainer
      width="100%"
      height={chartHeight}
      initialDimension={{ width: 640, height: chartHeight }}
    >
      <ComposedChart data={rows} margin={{ top: 8, right: 12, bottom: 0, left: 0 }} barCategoryGap="18%">
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis
          dataKey="at"
          tickFormatter={(at) => chart.shortLabels[Number(at)] ?? ''}
          tick={axisText}
          tickLine={false}
          axisLine={{ stroke: 'var(--line-strong)', strokeOpacity: 0.5 }}
          minTickGap={28}
          {...(chart.ticks ? { ticks: [...chart.ticks] } : {})}
        />
        <YAxis
          ticks={[...axis.ticks]}
          domain={[(least: number) => Math.min(0, least), axis.ticks.at(-1) ?? 'auto']}
          tickFormatter={(_, at) => axis.labels[at] ?? ''}
          tick={axisText}
          tickLine={false}
          axisLine={false}
          width={axisWidth(axis.labels)}
        />
        <Tooltip
          content={(shown: TooltipContentProps) => (
            <ChartTooltip chart={chart} drawn={drawn} compared={compared} at={placeOf(shown)} />
          )}
          cursor={{ fill: 'var(--hover)', stroke: 'var(--line-strong)', fillOpacity: 0.6 }}
          isAnimationActive={false}
        />
        {compared ? (
          <Line
            dataKey="before"
            type="linear"
            stroke="var(--line-strong)"
            strokeDasharray="4 4"
            strokeWidth={1.5}
            dot={false}
            activeDot={false}
            isAnimationActive={false}
          />
        ) : null}
        {drawn.map((index) =>
          lines ? (
            <Line
              key={index}
              dataKey={`g${index}`}
              type="linear"
              stroke={colourOf(index, chart.groups[index]?.rest)}
              strokeWidth={2}
              dot={rows.length <= 40 ? { r: 2 } : false}
              isAnimationActive={false}
            />
          ) : (
            <Bar
              key={index}
              dataKey={`g${index}`}
              stackId="all"
              fill={colourOf(index, chart.groups[index]?.rest)}
              stroke="var(--surface)"
              strokeWidth={rows.length <= 60 ? 1 : 0}
              maxBarSize={56}
              onClick={open(index)}
              className={chart.groups[index]?.filters ? 'cursor-pointer' : ''}
              isAnimationActive={false}
            />
          ),
        )}
      </ComposedChart>
    </ResponsiveContainer>
  );
}

/** The highest point of what is drawn. */
function largestOf(
  { groups, before, starts, shape }: ChartData,
  drawn: readonly number[],
  compared: boolean,
) {
  const heights = starts.map((_, at) => {
    const points = drawn.map((index) => groups[index]?.points[at] ?? 0);
    return shape === 'lines' ? Math.max(0, ...points) : points.reduce((sum, point) => sum + point, 0);
  });
  return Math.max(0, ...heights, ...(compared ? before.map((point) => point ?? 0) : []));
}

/** px that the longest label of an axis takes at the size of its text, with room beside it. */
function axisWidth(labels: readonly string[]): number {
  return Math.max(62, 14 + 7 * Math.max(...labels.map(({ length }) => length)));
}

const axisText = { fill: 'var(--muted)', fontSize: 12 };

/** The bucket at the pointer or selected with the arrow keys; null: none. */
function placeOf({ active, label }: TooltipContentProps): number | null {
  return active && label !== undefined ? Number(label) : null;
}
