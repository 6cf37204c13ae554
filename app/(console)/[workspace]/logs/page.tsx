import type { Metadata } from 'next';
import type { SearchParams } from 'nuqs/server';
import { Suspense } from 'react';
import { LogFilterBar } from '#components/logs/log-filter-bar';
import { PageHead } from '#components/page-head';
import { TableSkeleton } from '#components/ui/skeleton';
import { getConsoleHost } from '#lib/console/db';
import { loadLogFilters } from '#lib/console/log-filters';
import { requireMember } from '#lib/console/member';
import { listModelNames } from '#lib/console/model-names';
import { readForPage } from '#lib/console/operation';
import { listKeyNames } from '#lib/control/key/operations';
import { CallList } from './call-list';

export const metadata: Metadata = { title: 'Logs' };

/** What the filter offers; the calls of an older key are a link of the list of keys. */
const mostKeys = 200;

interface LogsPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function LogsPage({ params, searchParams }: LogsPageProps) {
  // Before anything is streamed, so that a stranger gets the status of a page that is not there.
  const { workspace } = await requireMember((await params).workspace, 'logs:read');
  const filters = await loadLogFilters(searchParams);
  const { db } = getConsoleHost();
  const [{ data: keys }, models] = await Promise.all([
    readForPage(listKeyNames, workspace.slug, { limit: mostKeys, chosen: filters.key }),
    listModelNames(db),
  ]);
  return (
    <>
      <PageHead title="Logs">
        Every call whose key was known, refusals included. Prompts and answers are not stored.
      </PageHead>
      <LogFilterBar models={models} keys={keys} mostKeys={mostKeys} />
      <Suspense fallback={<TableSkeleton label="Loading calls" rows={10} />}>
        <CallList workspace={workspace} filters={filters} />
      </Suspense>
    </>
  );
}
