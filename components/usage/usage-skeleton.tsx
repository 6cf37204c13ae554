import { ChartSkeleton } from '#components/charts/chart-frame';
import { TableSkeleton } from '#components/ui/skeleton';

/** Placeholders for the figures, the chart and the table, at their heights. */
export function UsageSkeleton() {
  return (
    <>
      <div
        aria-hidden
        className="h-[6.75rem] animate-pulse rounded-lg border bg-surface max-sm:h-[27rem] xl:h-[6.75rem]"
      />
      <div className="rounded-lg border bg-surface pt-24 pb-2">
        <ChartSkeleton />
      </div>
      <TableSkeleton label="Loading usage" rows={4} />
    </>
  );
}
