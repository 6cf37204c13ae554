import { ChevronLeft, ChevronRight, ScrollText, SearchX } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import type { SearchParams } from 'nuqs/server';
import { CallTable } from '#components/logs/call-table';
import { LogFilterBar } from '#components/logs/log-filter-bar';
import { PageHead } from '#components/page-head';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';
import { callRowOf } from '#lib/console/call-rows';
import { getConsoleHost } from '#lib/console/db';
import { loadLogFilters, logAddress } from '#lib/console/log-filters';
import { requireMember } from '#lib/console/member';
import { listModelNames } from '#lib/console/model-names';
import { showZone } from '#lib/console/show-time';
import { listCalls } from '#lib/queries/calls';
import { listKeys } from '#lib/queries/keys';

export const metadata: Metadata = { title: 'Logs' };

const pageSize = 50;

interface LogsPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function LogsPage({ params, searchParams }: LogsPageProps) {
  const { workspace } = await requireMember((await params).workspace, 'logs:read');
  const filters = await loadLogFilters(searchParams);
  const { db } = getConsoleHost();
  const [page, keys, models] = await Promise.all([
    listCalls(db, {
      workspaceId: workspace.id,
      filters: {
        status: filters.status ?? undefined,
        model: filters.model ?? undefined,
        keyId: filters.key ?? undefined,
        idPrefix: filters.id?.trim() ?? undefined,
      },
      before: filters.before ?? undefined,
      limit: pageSize,
    }),
    listKeys(db, workspace.id),
    listModelNames(db),
  ]);
  const nowMs = Date.now();
  const place = { workspace: workspace.slug, timeZone: workspace.timeZone, nowMs };
  const here = `/${workspace.slug}/logs`;
  const filtered = Boolean(filters.id || filters.status || filters.model || filters.key);
  return (
    <>
      <PageHead title="Logs">
        Every call whose key was known, refusals included. Prompts and answers are not stored.
      </PageHead>
      <LogFilterBar models={models} keys={keys.map(({ id, name }) => ({ id, name }))} />
      {page.calls.length > 0 ? (
        <div className="grid min-w-0 gap-3">
          <CallTable calls={page.calls.map((call) => callRowOf(call, place))} />
          <nav aria-label="Pages of the log" className="flex items-center justify-between gap-3">
            {filters.before ? (
              <Link
                className={buttonStyle({ size: 'small' })}
                href={logAddress(here, { ...filters, before: null })}
              >
                <ChevronLeft />
                Newest
              </Link>
            ) : null}
            <p className="flex-1 text-muted text-xs">
              Times in {showZone(workspace.timeZone, nowMs)}. A call appears within 2 seconds of its end.
            </p>
            {page.next ? (
              <Link
                className={buttonStyle({ size: 'small' })}
                href={logAddress(here, { ...filters, before: page.next })}
              >
                Older
                <ChevronRight />
              </Link>
            ) : null}
          </nav>
        </div>
      ) : filtered || filters.before ? (
        <EmptyState
          icon={<SearchX />}
          title="No call matches"
          action={
            <Link href={here} className={buttonStyle()}>
              Clear filters
            </Link>
          }
        >
          {filters.id
            ? 'A call appears here within 2 seconds. Check the id: it stands in the X-Request-Id header of every answer.'
            : 'No call of this workspace fits these filters.'}
        </EmptyState>
      ) : (
        <EmptyState
          icon={<ScrollText />}
          title="No calls yet"
          action={
            <Link href={`/${workspace.slug}/keys`} className={buttonStyle({ tone: 'primary' })}>
              Go to API keys
            </Link>
          }
        >
          Create a key and send the first request; it appears here within 2 seconds.
        </EmptyState>
      )}
    </>
  );
}
