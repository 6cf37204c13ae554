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
import { showShort } from '#lib/console/show/figure';
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
          tickFormatter={(value) => showShort(chart.kind, Number(value))}
          tick={axisText}
          tickLine={false}
          axisLine={false}
          width={62}
          allowDecimals={chart.kind !== 'count'}
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

const axisText = { fill: 'var(--muted)', fontSize: 12 };

/** The bucket at the pointer or selected with the arrow keys; null: none. */
function placeOf({ active, label }: TooltipContentProps): number | null {
  return active && label !== undefined ? Number(label) : null;
}
