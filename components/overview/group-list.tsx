import Link from 'next/link';
import { colourOf, Swatch } from '#components/charts/chart-style';
import { showFigure } from '#lib/console/show/figure';
import type { ChartData } from '#lib/console/usage/chart';
import { logHref } from '#lib/console/usage/log-href';

/** The groups of a chart, listed beside it with links to their calls. */
export function GroupList({ chart, more }: { chart: ChartData; more: string }) {
  const span = { from: chart.starts[0] ?? chart.end, to: chart.end };
  // Among groups that cost something, those that cost nothing, such as lists of models, say nothing.
  const costs = chart.groups.some(({ total }) => total !== 0 && total !== null);
  return (
    <div className="flex min-w-0 flex-col px-4 py-3 max-xl:border-t">
      {chart.groups.length === 0 ? <p className="text-muted">No calls in this range.</p> : null}
      <ul className="grid gap-0.5">
        {chart.groups.map((group, index) =>
          costs && !group.total ? null : (
            <li key={group.id} className="flex min-w-0 items-center gap-2 py-1 text-[0.8125rem]">
              <Swatch colour={colourOf(index, group.rest)} />
              {group.filters ? (
                <Link
                  href={logHref(chart.logPath, group.filters, span)}
                  prefetch={false}
                  title={group.label}
                  dir="auto"
                  className="min-w-0 flex-1 truncate hover:underline"
                >
                  {group.label}
                </Link>
              ) : (
                <span dir="auto" className="min-w-0 flex-1 truncate" title={group.label}>
                  {group.label}
                </span>
              )}
              <span className="tabular-nums" title={`$${group.cost}`}>
                {showFigure(chart.kind, group.total)}
              </span>
            </li>
          ),
        )}
      </ul>
      <Link href={more} className="mt-auto pt-3 text-muted text-xs hover:text-ink hover:underline">
        View usage
      </Link>
    </div>
  );
}
