import type { Metadata } from 'next';
import Link from 'next/link';
import { InnerTable } from '#components/fleet/inner-table';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { Input } from '#components/ui/input';
import { listUrl } from '#lib/console/list-url';
import { readForOperator } from '#lib/console/operator';
import type { CallStatus } from '#lib/console/show/call-status';
import { showDay } from '#lib/console/show/time';
import { workspaceStatusOf } from '#lib/console/show/workspace-status';
import { listAllWorkspaces } from '#lib/control/operations/workspace/operations';
import { exactMoney, showCount, showMoney, showMoneyDown } from '#lib/core/show-money';

export const metadata: Metadata = { title: 'Workspaces' };

const here = '/operator/workspaces';
const right = true;
const columns = [
  { title: 'Workspace', sort: { by: 'name' } },
  { title: 'State', place: 'state' },
  { title: 'Balance', right, place: 'figure', sort: { by: 'balance', descendingFirst: true } },
  { title: 'Available', right, sort: { by: 'available', descendingFirst: true } },
  { title: 'Held', right },
  { title: 'Requests/min', right, sort: { by: 'rpm', descendingFirst: true } },
  { title: 'Tokens/min', right, sort: { by: 'tpm', descendingFirst: true } },
  { title: 'Concurrent', right, sort: { by: 'concurrency', descendingFirst: true } },
  { title: 'Created', right, sort: { by: 'created', descendingFirst: true, usual: 'descending' } },
] as const;

interface WorkspacesPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function WorkspacesPage({ searchParams }: WorkspacesPageProps) {
  const query = await searchParams;
  const [search, sort, after] = [query.search, query.sort, query.after].map(
    (text) => [text].flat()[0] || undefined,
  );
  const { data, next } = await readForOperator(listAllWorkspaces, { search, sort, after, limit: 50 });
  const texts = { search: search ?? null, sort: sort ?? null };
  const nowMs = Date.now();
  const limit = (value: number | null) => (value === null ? 'None' : showCount(value));
  return (
    <>
      <PageHead help="operator-workspaces" title="Workspaces">
        All workspaces on this gateway, with their funds and limits.
      </PageHead>
      <search>
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
      <Section title="Workspaces">
        <InnerTable
          label="Workspaces"
          columns={columns}
          none={search === undefined ? 'No workspaces yet.' : 'No matching workspaces.'}
          rows={data.map((one) => ({
            id: one.id,
            cells: [
              <span key="name" className="grid min-w-40">
                <Link
                  href={`${here}/${one.slug}`}
                  prefetch={false}
                  className="font-medium underline-offset-2 [overflow-wrap:anywhere] hover:underline"
                >
                  {one.name}
                </Link>
                <code className="font-mono text-muted text-xs">{one.slug}</code>
              </span>,
              <StateCell key="state" status={workspaceStatusOf(one, { nowMs })} />,
              ...[one.balance, one.available, one.held].map((usd, at) => (
                <span key={['balance', 'available', 'held'][at]} title={exactMoney(usd)}>
                  {at === 2 ? showMoney(usd) : showMoneyDown(usd)}
                </span>
              )),
              limit(one.rpm),
              limit(one.tpm),
              limit(one.concurrency),
              showDay(Date.parse(one.createdAt), 'UTC'),
            ],
          }))}
        />
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
