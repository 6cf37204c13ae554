import type { Metadata } from 'next';
import { Suspense } from 'react';
import { LogFilterBar } from '#components/logs/log-filter-bar';
import { PageHead } from '#components/page-head';
import { TableSkeleton } from '#components/ui/skeleton';
import { formOf } from '#lib/console/form';
import { readListAddress } from '#lib/console/list-address';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { listCalls, logFields } from '#lib/control/call/operations';
import { listModelNames } from '#lib/control/catalogue/operations';
import { listKeyNames } from '#lib/control/key/operations';
import { CallList } from './call-list';

export const metadata: Metadata = { title: 'Logs' };

/** What the filter offers; the calls of an older key are a link of the list of keys. */
const mostKeys = 200;
const olderKeys = 'The newest keys. The calls of an older one are a link on the page of the API keys.';

const statuses = [
  { value: '2xx', label: '2xx succeeded' },
  { value: '4xx', label: '4xx rejected' },
  { value: '5xx', label: '5xx failed' },
];

interface LogsPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function LogsPage({ params, searchParams }: LogsPageProps) {
  // Before anything is streamed, so that a stranger gets the status of a page that is not there.
  const { workspace } = await requireMember((await params).workspace, 'logs:read');
  const { limit, count, ...shown } = listCalls.fields;
  const filters = readListAddress(shown, await searchParams, workspace.timeZone);
  const [{ data: keys }, { data: models }] = await Promise.all([
    readForPage(listKeyNames, workspace.slug, { limit: mostKeys, chosen: filters.texts.key }),
    readForPage(listModelNames, workspace.slug, {}),
  ]);
  return (
    <>
      <PageHead title="Logs">
        Every call whose key was known, refusals included. Prompts and answers are not stored.
      </PageHead>
      <LogFilterBar
        fields={formOf(logFields)}
        choices={{
          status: { options: statuses },
          model: { options: models.map((model) => ({ value: model, label: model })) },
          key: {
            options: keys.map((key) => ({ value: key.id, label: key.name })),
            unknown: 'Unknown key',
            ...(keys.length < mostKeys ? {} : { note: olderKeys }),
          },
        }}
      />
      <Suspense fallback={<TableSkeleton label="Loading calls" rows={10} />}>
        <CallList workspace={workspace} filters={filters} />
      </Suspense>
    </>
  );
}
