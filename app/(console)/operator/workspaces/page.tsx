import type { Metadata } from 'next';
import Link from 'next/link';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { figureColumn, type ListColumns, ListTable } from '#components/columns/list-table';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { Input } from '#components/ui/input';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { listUrl } from '#lib/console/list-url';
import { readForOperator } from '#lib/console/operator';
import type { CallStatus } from '#lib/console/show/call-status';
import { showDay } from '#lib/console/show/time';
import { workspaceStatusOf } from '#lib/console/show/workspace-status';
import { listAllWorkspaces } from '#lib/control/operations/workspace/operations';
import type { ListedWorkspace } from '#lib/control/operations/workspace/settings';
import { exactMoney, showCount, showMoney, showMoneyDown } from '#lib/core/show-money';
import { chooseColumnsAction } from '../../../columns-action';

export const metadata: Metadata = { title: 'Workspaces' };

const here = '/operator/workspaces';
const limit = (value: number | null) => (value === null ? 'None' : showCount(value));
const byFigure = (by: string) => ({ ...figureColumn, sort: { by, descendingFirst: true } });

const looksAt = (nowMs: number): ListColumns<ListedWorkspace, 'workspaces'> => ({
  fixed: {
    sort: { by: 'name' },
    place: 'title',
    show: (one) => (
      <span className="grid min-w-40">
        <Link
          href={`${here}/${one.slug}`}
          prefetch={false}
          className="font-medium underline-offset-2 [overflow-wrap:anywhere] hover:underline"
        >
          {one.name}
        </Link>
        <code className="font-mono text-muted text-xs">{one.slug}</code>
      </span>
    ),
  },
  state: { place: 'state', show: (one) => <StateCell status={workspaceStatusOf(one, { nowMs })} /> },
  balance: {
    ...byFigure('balance'),
    place: 'figure',
    title: ({ balance }) => exactMoney(balance),
    show: ({ balance }) => showMoneyDown(balance),
  },
  available: {
    ...byFigure('available'),
    title: ({ available }) => exactMoney(available),
    show: ({ available }) => showMoneyDown(available),
  },
  held: { ...byFigure('held'), title: ({ held }) => exactMoney(held), show: ({ held }) => showMoney(held) },
  rpm: { ...byFigure('rpm'), show: ({ rpm }) => limit(rpm) },
  tpm: { ...byFigure('tpm'), show: ({ tpm }) => limit(tpm) },
  concurrency: { ...byFigure('concurrency'), show: ({ concurrency }) => limit(concurrency) },
  created: {
    ...figureColumn,
    sort: { by: 'created', descendingFirst: true, usual: 'descending' },
    show: ({ createdAt }) => showDay(Date.parse(createdAt), 'UTC'),
  },
  credit: { ...figureColumn, show: ({ credit }) => showMoney(credit) },
  zone: { className: 'whitespace-nowrap', show: ({ timeZone }) => timeZone },
  id: {
    className: 'min-w-40',
    show: ({ id }) => <code className="font-mono text-xs [overflow-wrap:anywhere]">{id}</code>,
  },
});

interface WorkspacesPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function WorkspacesPage({ searchParams }: WorkspacesPageProps) {
  const query = await searchParams;
  const [search, sort, after, columns] = [query.search, query.sort, query.after, query.columns].map(
    (text) => [text].flat()[0] || undefined,
  );
  const { data, next } = await readForOperator(listAllWorkspaces, { search, sort, after, limit: 50 });
  const chosen = await readChosenColumns('workspaces', query);
  const texts = { search, sort, columns };
  return (
    <>
      <PageHead help="operator-workspaces" title="Workspaces">
        All workspaces on this gateway, with their funds and limits.
      </PageHead>
      <div className="flex gap-2">
        <search className="min-w-0 flex-1">
          <form action={here} className="flex max-w-md gap-2">
            <Input
              name="search"
              type="search"
              aria-label="Search workspaces"
              placeholder="Name, slug or id"
              defaultValue={search}
            />
            <Button type="submit">Search</Button>
          </form>
        </search>
        <ListColumnsButton table="workspaces" remembered={chosen} remember={chooseColumnsAction} />
      </div>
      <Section title="Workspaces">
        {data.length === 0 ? (
          <p className="px-4 py-4 text-muted">
            {search === undefined ? 'No workspaces yet.' : 'No matching workspaces.'}
          </p>
        ) : (
          <ListTable
            label="Workspaces"
            table="workspaces"
            looks={looksAt(Date.now())}
            columns={shownColumns('workspaces', chosen)}
            rows={data}
            framed={false}
          />
        )}
      </Section>
      <PagesNav
        label="Pages of workspaces"
        first={after ? listUrl(here, texts) : null}
        next={next ? listUrl(here, { ...texts, after: next }) : null}
      >
        {sort ? null : 'Newest first. '}Deleted workspaces are not listed.
      </PagesNav>
    </>
  );
}

function StateCell({ status: { tone, text, note, why } }: { status: CallStatus }) {
  return (
    <span title={why}>
      <Badge tone={tone} dot>
        {text}
      </Badge>
      {note === null ? null : (
        <span className="mt-1 block max-w-48 text-muted text-xs leading-4 [overflow-wrap:anywhere]">
          {note}
        </span>
      )}
    </span>
  );
}
