import { Download, Search } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { Suspense } from 'react';
import { ChosenColumns } from '#components/columns/chosen-columns';
import { ColumnMenu } from '#components/columns/column-menu';
import { LiveSwitch } from '#components/logs/live/live-switch';
import { LogFilterBar } from '#components/logs/log-filter-bar';
import { PageHead } from '#components/page-head';
import { buttonStyle } from '#components/ui/button';
import { TableSkeleton } from '#components/ui/skeleton';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { formOf } from '#lib/console/form';
import { listUrl } from '#lib/console/list-url';
import { lockOf } from '#lib/console/lock';
import { readLogAddress } from '#lib/console/log/address';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { logFields } from '#lib/control/operations/call/operations';
import { listModelNames } from '#lib/control/operations/catalogue/operations';
import { listKeyNames } from '#lib/control/operations/key/operations';
import { errorTable } from '#lib/core/errors';
import { chooseColumnsAction } from '../../../columns-action';
import { PageViews } from '../views/page-views';
import { CallList } from './call-list';

export const metadata: Metadata = { title: 'Logs' };

/** Filters that links bring along, and that one box searches for with the others. */
const linked = new Set(['countedModel', 'clientRequestId', 'upstreamRequestId']);

const statuses = [
  { value: '2xx', label: '2xx succeeded' },
  { value: '4xx', label: '4xx rejected' },
  { value: '5xx', label: '5xx failed' },
];

const spans = [
  { value: '15m', label: 'Last 15 minutes' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
];

interface LogsPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function LogsPage({ params, searchParams }: LogsPageProps) {
  // Checked before streaming starts, so that non-members get the status of a page that does not exist.
  const member = await requireMember((await params).workspace, 'logs:read');
  const { workspace } = member;
  const query = await searchParams;
  const filters = readLogAddress(query, workspace.timeZone);
  const find = `/${workspace.slug}/find`;
  const [{ data: keys }, { providers }] = await Promise.all([
    // Only the name of the chosen key: the others are found by a text.
    readForPage(listKeyNames, workspace.slug, { limit: 1, chosen: filters.texts.key }),
    readForPage(listModelNames, workspace.slug, {}),
  ]);
  const remembered = await readChosenColumns('log', query);
  return (
    <ChosenColumns table="log" remembered={remembered} remember={chooseColumnsAction}>
      <PageHead
        help="logs"
        title="Logs"
        action={
          <div className="flex flex-wrap gap-2">
            {filters.texts.after === undefined && filters.texts.sort === undefined ? <LiveSwitch /> : null}
            <PageViews member={member} page="logs" />
            <ColumnMenu />
            <a
              className={buttonStyle()}
              href={listUrl(`/${workspace.slug}/logs/export`, {
                ...filters.texts,
                sort: null,
                after: null,
              })}
              title="Every call that the filters find, the newest first, as CSV"
              download
            >
              <Download />
              Export CSV
            </a>
            {lockOf(member, 'content:read', '') === null ? (
              <Link
                className={buttonStyle()}
                href={listUrl(`/${workspace.slug}/logs/search`, {
                  ...filters.texts,
                  sort: null,
                  after: null,
                })}
                title="Find a text in kept requests and answers of the calls that the filters find"
              >
                <Search />
                Search content
              </Link>
            ) : null}
            {lockOf(member, 'content:read', '') === null ? (
              <a
                className={buttonStyle()}
                href={listUrl(`/${workspace.slug}/logs/content`, {
                  ...filters.texts,
                  sort: null,
                  after: null,
                })}
                title="Kept conversations of the calls that the filters find, as JSONL in the chat format; the audit log records it"
                download
              >
                <Download />
                Export content
              </a>
            ) : null}
          </div>
        }
      >
        Every call made with a known key, including refused calls.
      </PageHead>
      <LogFilterBar
        fields={formOf(logFields).filter(({ name }) => !linked.has(name) || filters.texts[name])}
        choices={{
          status: { options: statuses },
          last: { options: spans },
          provider: { options: providers.map((provider) => ({ value: provider, label: provider })) },
          errorCode: { options: Object.keys(errorTable).map((code) => ({ value: code, label: code })) },
          model: { options: [], find: `${find}?called=` },
          key: {
            options: keys.map((key) => ({ value: key.id, label: key.name })),
            unknown: 'Unknown key',
            find: `${find}?key=`,
          },
        }}
      />
      <Suspense fallback={<TableSkeleton label="Loading calls" rows={10} />}>
        <CallList
          live={query.live === 'true'}
          workspace={workspace}
          filters={filters}
          columns={[query.columns].flat()[0] ?? null}
        />
      </Suspense>
    </ChosenColumns>
  );
}
