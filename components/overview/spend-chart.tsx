'use client';

import { useMemo } from 'react';
import { ChartFrame } from '#components/charts/chart-frame';
import { DashedLine } from '#components/charts/legend';
import type { ChartData } from '#lib/console/usage/chart';

/** Spend over time by model, with all groups; the list beside it has their names. */
export function SpendChart({ chart }: { chart: ChartData }) {
  const drawn = useMemo(() => chart.groups.map((_, index) => index), [chart]);
  return (
    <div className="min-w-0 pt-4 pb-2">
      <ChartFrame chart={chart} drawn={drawn} compared />
      <p className="px-4 pt-1 text-muted text-xs">
        <DashedLine />
      </p>
    </div>
  );
}
