import { ChartSkeleton } from '#components/charts/chart-frame';
import { TableSkeleton } from '#components/ui/skeleton';

/** The parts of the overview, at their heights, while they load. */
export function OverviewSkeleton() {
  return (
    <>
      <div aria-hidden className="grid gap-3">
        <div className="h-[5.75rem] animate-pulse rounded-lg border bg-surface max-sm:h-[11.5rem]" />
        <div className="h-[5.75rem] animate-pulse rounded-lg border bg-surface max-sm:h-[17.25rem]" />
      </div>
      <div className="rounded-lg border bg-surface pt-20">
        <ChartSkeleton />
      </div>
      <TableSkeleton label="Loading calls" rows={10} />
    </>
  );
}
