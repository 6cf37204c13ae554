import Link from 'next/link';
import { DeltaBadge } from '#components/charts/delta-badge';
import { classNames } from '#components/ui/class-names';
import type { TotalFigure } from '#lib/console/usage/totals';

interface TotalsStripProps {
  figures: readonly (TotalFigure & { readonly href: string })[];
  /** The metric that the chart shows. */
  current: string;
}

/** The figures of a range; each links to its own chart. */
export function TotalsStrip({ figures, current }: TotalsStripProps) {
  return (
    <nav
      aria-label="Figures"
      className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border bg-line sm:grid-cols-4 xl:grid-cols-8"
    >
      {figures.map((figure) => {
        const here = figure.metric === current;
        return (
          <Link
            key={figure.metric}
            href={figure.href}
            scroll={false}
            prefetch={false}
            aria-current={here ? 'true' : undefined}
            title={figure.exact ?? undefined}
            className={classNames(
              '-outline-offset-2 grid content-start gap-0.5 bg-surface px-3.5 py-3 hover:bg-hover',
              here && 'shadow-[inset_0_-2px_0_var(--accent)]',
            )}
          >
            <span className="text-muted text-xs">{figure.name}</span>
            <span className="font-semibold text-base tabular-nums tracking-tight">{figure.value}</span>
            <span className="flex flex-wrap items-baseline gap-x-2">
              {figure.note ? <span className="text-muted text-xs">{figure.note}</span> : null}
              <DeltaBadge delta={figure.delta} moreIsWorse={figure.moreIsWorse} />
            </span>
          </Link>
        );
      })}
    </nav>
  );
}
