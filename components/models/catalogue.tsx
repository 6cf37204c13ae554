import { SearchX } from 'lucide-react';
import Link from 'next/link';
import type { ComponentProps, ReactNode } from 'react';
import type { ChosenColumns } from '#components/columns/chosen-columns';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { CompareTable } from '#components/models/compare-table';
import { ModelFilterBar, type ModelFilterChoice } from '#components/models/model-filter-bar';
import { ModelTable } from '#components/models/model-table';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';
import { type ColumnOf, shownColumns } from '#lib/console/columns';
import { listUrl } from '#lib/console/list-url';
import type { CatalogueView } from '#lib/console/models/list';
import { allModels, modelRowOf } from '#lib/console/models/rows';

interface CatalogueProps {
  /** URL of this page: "/models". */
  list: string;
  view: CatalogueView;
  choices: readonly ModelFilterChoice[];
  mostCompared: number;
  /** The number of models without filters. */
  total: number;
  /** The chosen columns, null: the default ones; and how a choice is stored. */
  columns: readonly ColumnOf<'models'>[] | null;
  remember: ComponentProps<typeof ChosenColumns>['remember'];
  /** Shown if the catalogue is empty. */
  empty: ReactNode;
}

/** The catalogue: filters, comparison, table. It is the same for the public and for members. */
export function Catalogue({
  list,
  view,
  choices,
  mostCompared,
  total,
  columns,
  remember,
  empty,
}: CatalogueProps) {
  const { rows, compared, found, callable, hidden, page, pages, texts, faults } = view;
  const address = (change: Record<string, string | null>) => listUrl(list, { ...texts, ...change });
  const without = (id: string) =>
    address({ compare: compared.flatMap((model) => (model.id === id ? [] : model.id)).join(',') || null });
  const pageHref = (number: number) => address({ page: number > 1 ? String(number) : null });
  if (total === 0) return empty;
  return (
    <>
      <ModelFilterBar
        choices={choices}
        action={<ListColumnsButton table="models" remembered={columns} remember={remember} />}
      />
      {faults.map((fault) => (
        <p key={fault} role="status" className="text-sm text-warn">
          {fault}; this filter was ignored.
        </p>
      ))}
      {compared.length > 0 ? (
        <CompareTable
          most={mostCompared}
          clearHref={address({ compare: null })}
          models={compared.map((model) => ({ ...modelRowOf(model, list), without: without(model.id) }))}
        />
      ) : null}
      {rows.length > 0 ? (
        <div className="grid min-w-0 gap-3">
          <ModelTable rows={rows} mostCompared={mostCompared} columns={shownColumns('models', columns)} />
          <nav aria-label="Pages of the catalogue" className="flex flex-wrap items-center gap-3">
            <p className="flex-1 basis-64 text-muted text-xs leading-5">
              {found} {found === 1 ? 'model' : 'models'}, {callable} available here. Prices are the lowest
              list prices, in dollars.
              {hidden > 0 ? (
                <>
                  {' '}
                  <Link
                    href={address({ available: allModels, page: null })}
                    className="underline underline-offset-2 hover:text-ink"
                  >
                    Also show the {hidden} that are not set up
                  </Link>
                </>
              ) : null}
            </p>
            {page > 1 ? (
              <Link className={buttonStyle({ size: 'small' })} href={pageHref(page - 1)}>
                Previous
              </Link>
            ) : null}
            {pages > 1 ? (
              <span className="text-muted text-xs tabular-nums">
                Page {page} of {pages}
              </span>
            ) : null}
            {page < pages ? (
              <Link className={buttonStyle({ size: 'small' })} href={pageHref(page + 1)}>
                Next
              </Link>
            ) : null}
          </nav>
        </div>
      ) : (
        <EmptyState
          icon={<SearchX />}
          title="No matching models"
          action={
            <Link href={listUrl(list, { available: allModels })} className={buttonStyle()}>
              Show all models
            </Link>
          }
        >
          None of this gateway’s {total} models match all filters.
        </EmptyState>
      )}
    </>
  );
}
