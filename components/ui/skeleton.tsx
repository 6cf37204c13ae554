import { classNames } from '#components/ui/class-names';

/** A placeholder of the same height while content loads. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={classNames('animate-pulse rounded-md bg-hover', className)} />;
}

const rowNames = 'abcdefghijkl'.split('');

/** Placeholder for a table. */
export function TableSkeleton({ rows = 8, label }: { rows?: number; label: string }) {
  return (
    <div role="status" className="overflow-hidden rounded-lg border bg-surface">
      <span className="sr-only">{label}</span>
      <div className="h-9 border-b bg-sunken/70" />
      {rowNames.slice(0, rows).map((row) => (
        <div key={row} className="flex h-[3.25rem] items-center gap-6 border-b px-4 last:border-b-0">
          <Skeleton className="h-3.5 w-32" />
          <Skeleton className="h-3.5 w-20" />
          <Skeleton className="h-3.5 flex-1" />
          <Skeleton className="h-3.5 w-16" />
        </div>
      ))}
    </div>
  );
}
