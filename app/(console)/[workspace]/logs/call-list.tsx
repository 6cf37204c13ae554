import type { inferParserType } from 'nuqs/server';
import { CallTable } from '#components/logs/call-table';
import { NoCalls } from '#components/logs/no-calls';
import { PagesNav } from '#components/pages-nav';
import { getConsoleHost } from '#lib/console/db';
import { logAddress, type logFilters } from '#lib/console/log-filters';
import type { Membership } from '#lib/console/member';
import { callRowOf } from '#lib/console/show/call-rows';
import { showZone } from '#lib/console/show/time';
import { listCalls } from '#lib/queries/calls';

const pageSize = 50;

interface CallListProps {
  workspace: Membership['workspace'];
  filters: inferParserType<typeof logFilters>;
}

/** One page of the log; the next one starts after its last call, however many arrive meanwhile. */
export async function CallList({ workspace, filters }: CallListProps) {
  const page = await listCalls(getConsoleHost().db, {
    workspaceId: workspace.id,
    filters: {
      status: filters.status ?? undefined,
      model: filters.model ?? undefined,
      keyId: filters.key ?? undefined,
      idPrefix: filters.id?.trim() ?? undefined,
    },
    before: filters.before ?? undefined,
    limit: pageSize,
  });
  const here = `/${workspace.slug}/logs`;
  if (page.calls.length === 0) {
    const narrowed = Boolean(filters.status || filters.model || filters.key || filters.before);
    return <NoCalls workspace={workspace.slug} searched={Boolean(filters.id)} narrowed={narrowed} />;
  }
  const nowMs = Date.now();
  const place = { workspace: workspace.slug, timeZone: workspace.timeZone, nowMs };
  return (
    <div className="grid min-w-0 gap-3">
      <CallTable calls={page.calls.map((call) => callRowOf(call, place))} />
      <PagesNav
        label="Pages of the log"
        first={filters.before ? logAddress(here, { ...filters, before: null }) : null}
        next={page.next ? logAddress(here, { ...filters, before: page.next }) : null}
      >
        Times in {showZone(workspace.timeZone, nowMs)}. A call appears within 2 seconds of its end.
      </PagesNav>
    </div>
  );
}
