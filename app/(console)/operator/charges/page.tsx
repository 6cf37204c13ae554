import type { Metadata } from 'next';
import Link from 'next/link';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { figureColumn, type ListColumns, ListTable } from '#components/columns/list-table';
import { When } from '#components/fleet/when';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { classNames } from '#components/ui/class-names';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { listUrl } from '#lib/console/list-url';
import { readForOperator } from '#lib/console/operator';
import { type FlaggedCharge, listFlagged } from '#lib/control/operations/call/flagged';
import { exactMoney, showCount, showMoney } from '#lib/core/show-money';
import { chooseColumnsAction } from '../../../columns-action';

export const metadata: Metadata = { title: 'Flagged charges' };

const here = '/operator/charges';
const views = [
  { flag: undefined, label: 'All' },
  { flag: 'usage_anomaly', label: 'Usage anomaly' },
  { flag: 'unpriced_tier', label: 'Unpriced tier' },
] as const;
type Charge = FlaggedCharge & { readonly id: string };

const looksAt = (nowMs: number): ListColumns<Charge, 'charges'> => ({
  fixed: {
    sort: { by: 'at', descendingFirst: true, usual: 'descending' },
    place: 'title',
    show: (charge) => (
      <span className="grid">
        <Link
          href={`/${charge.workspace}/logs/${charge.call}`}
          prefetch={false}
          className="font-mono text-xs underline-offset-2 hover:underline"
        >
          {charge.call.slice(0, 13)}…
        </Link>
        <span className="text-muted text-xs">
          {charge.of === 'call' ? null : `${charge.of}, `}
          <When iso={charge.at} nowMs={nowMs} />
        </span>
      </span>
    ),
  },
  workspace: {
    show: ({ workspace }) => (
      <Link
        href={`/operator/workspaces/${workspace}`}
        prefetch={false}
        className="underline-offset-2 hover:underline"
      >
        {workspace}
      </Link>
    ),
  },
  model: {
    className: 'min-w-36 [overflow-wrap:anywhere]',
    show: ({ model, provider }) => (
      <>
        {model ?? '–'}
        <span className="block text-muted text-xs">{provider}</span>
      </>
    ),
  },
  flags: {
    place: 'state',
    show: ({ flags }) => (
      <span className="flex flex-wrap gap-1">
        {flags.map((one) => (
          <Badge key={one} tone="warn">
            {one}
          </Badge>
        ))}
      </span>
    ),
  },
  claimed: {
    className: 'min-w-40 text-xs leading-5',
    show: ({ claimed }) =>
      Object.entries(claimed)
        .map(([name, count]) => `${name} ${showCount(count)}`)
        .join(', ') || '–',
  },
  cost: {
    ...figureColumn,
    sort: { by: 'cost', descendingFirst: true },
    place: 'figure',
    title: ({ cost }) => exactMoney(cost),
    show: ({ cost }) => showMoney(cost),
  },
});

interface ChargesPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function ChargesPage({ searchParams }: ChargesPageProps) {
  const query = await searchParams;
  const [flag, sort, after] = [query.flag, query.sort, query.after].map((text) => [text].flat()[0]);
  const { data, next } = await readForOperator(listFlagged, { flag, sort, after, limit: 50 });
  const chosen = await readChosenColumns('charges', query);
  const texts = { flag, sort, columns: [query.columns].flat()[0] };
  return (
    <>
      <PageHead help="operator-charges" title="Flagged charges">
        Usage reported by providers that does not match the catalogue. A usage anomaly is charged up to the
        model’s limits, an unpriced tier at the base price. Either the catalogue or the provider is wrong.
      </PageHead>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <nav aria-label="Flags" className="flex flex-wrap gap-1">
          {views.map((view) => (
            <Link
              key={view.label}
              href={listUrl(here, { ...texts, flag: view.flag })}
              aria-current={view.flag === flag ? 'page' : undefined}
              className={classNames(
                'flex h-8 items-center rounded-md px-2.5 text-muted hover:bg-hover hover:text-ink',
                view.flag === flag && 'bg-hover font-medium text-ink',
              )}
            >
              {view.label}
            </Link>
          ))}
        </nav>
        {data.length > 0 ? (
          <ListColumnsButton table="charges" remembered={chosen} remember={chooseColumnsAction} />
        ) : null}
      </div>
      <Section title="Charges">
        {data.length === 0 ? (
          <p className="px-4 py-4 text-muted">
            No flagged charges: all reported usage matches the catalogue.
          </p>
        ) : (
          <ListTable
            label="Charges"
            table="charges"
            looks={looksAt(Date.now())}
            columns={shownColumns('charges', chosen)}
            rows={data.map((charge) => ({ ...charge, id: `${charge.call} ${charge.of}` }))}
            framed={false}
          />
        )}
      </Section>
      <PagesNav
        label="Pages of flagged charges"
        first={after ? listUrl(here, texts) : null}
        next={next ? listUrl(here, { ...texts, after: next }) : null}
      >
        All workspaces except those with demo data{sort ? '' : ', newest first'}.
      </PagesNav>
    </>
  );
}
