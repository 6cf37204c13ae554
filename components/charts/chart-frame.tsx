'use client';

import dynamic from 'next/dynamic';
import type { ComponentProps } from 'react';
import { chartHeight } from '#components/charts/chart-style';
import { untilLoaded } from '#components/ui/until-loaded';

function Waiting() {
  return (
    <div aria-hidden className="flex h-full items-end gap-2 px-4 pb-6">
      {bars.map((height) => (
        <div
          key={height}
          className="flex-1 animate-pulse rounded-t bg-hover"
          style={{ height: `${height}%` }}
        />
      ))}
    </div>
  );
}

const bars = [34, 52, 41, 67, 58, 74, 49, 62, 81, 70];

// The chart library is larger than the rest of the page, so it is loaded separately, after the page.
const TimeChart = dynamic(() => untilLoaded(() => import('#components/charts/time-chart')), {
  ssr: false,
  loading: Waiting,
});

/** A chart in a box of fixed height; a sentence describes it, and a table has its figures. */
export function ChartFrame(props: ComponentProps<typeof TimeChart>) {
  return (
    <figure aria-label={props.chart.summary} className="min-w-0 px-1 sm:px-3" style={{ height: chartHeight }}>
      <TimeChart {...props} />
    </figure>
  );
}

/** Placeholder for a chart. */
export function ChartSkeleton() {
  return (
    <div style={{ height: chartHeight }}>
      <Waiting />
    </div>
  );
}
