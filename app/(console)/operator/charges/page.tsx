import type { Metadata } from 'next';
import Link from 'next/link';
import { InnerTable } from '#components/fleet/inner-table';
import { When } from '#components/fleet/when';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { classNames } from '#components/ui/class-names';
import { listUrl } from '#lib/console/list-url';
import { readForOperator } from '#lib/console/operator';
import { listFlagged } from '#lib/control/operations/call/flagged';
import { exactMoney, showCount, showMoney } from '#lib/core/show-money';

export const metadata: Metadata = { title: 'Flagged charges' };

const here = '/operator/charges';
const views = [
  { flag: undefined, label: 'All' },
  { flag: 'usage_anomaly', label: 'Usage anomaly' },
  { flag: 'unpriced_tier', label: 'Unpriced tier' },
] as const;
const columns = [
  { title: 'Call', sort: { by: 'at', descendingFirst: true, usual: 'descending' } },
  { title: 'Workspace' },
  { title: 'Model' },
  { title: 'Flag', place: 'state' },
  { title: 'Reported' },
  { title: 'Charged', right: true, place: 'figure', sort: { by: 'cost', descendingFirst: true } },
] as const;

interface ChargesPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function ChargesPage({ searchParams }: ChargesPageProps) {
  const query = await searchParams;
  const [flag, sort, after] = [query.flag, query.sort, query.after].map((text) => [text].flat()[0]);
  const { data, next } = await readForOperator(listFlagged, { flag, sort, after, limit: 50 });
  const nowMs = Date.now();
  const texts = { flag, sort };
  return (
    <>
      <PageHead help="operator-charges" title="Flagged charges">
        Usage reported by providers that does not match the catalogue. A usage anomaly is charged up to the
        model’s limits, an unpriced tier at the base price. Either the catalogue or the provider is wrong.
      </PageHead>
      <nav aria-label="Flags" className="flex flex-wrap gap-1">
        {views.map((view) => (
          <Link
            key={view.label}
            href={listUrl(here, { flag: view.flag, sort })}
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
      <Section title="Charges">
        <InnerTable
          label="Charges"
          columns={columns}
          none="No flagged charges: all reported usage matches the catalogue."
          rows={data.map((charge) => ({
            id: `${charge.call} ${charge.of}`,
            cells: [
              <span key="call" className="grid">
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
              </span>,
              <Link
                key="workspace"
                href={`/operator/workspaces/${charge.workspace}`}
                prefetch={false}
                className="underline-offset-2 hover:underline"
              >
                {charge.workspace}
              </Link>,
              <span key="model" className="block min-w-36 [overflow-wrap:anywhere]">
                {charge.model ?? '–'}
                <span className="block text-muted text-xs">{charge.provider}</span>
              </span>,
              <span key="flags" className="flex flex-wrap gap-1">
                {charge.flags.map((one) => (
                  <Badge key={one} tone="warn">
                    {one}
                  </Badge>
                ))}
              </span>,
              <span key="claimed" className="block min-w-40 text-xs leading-5">
                {Object.entries(charge.claimed)
                  .map(([name, count]) => `${name} ${showCount(count)}`)
                  .join(', ') || '–'}
              </span>,
              <span key="cost" title={exactMoney(charge.cost)}>
                {showMoney(charge.cost)}
              </span>,
            ],
          }))}
        />
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
