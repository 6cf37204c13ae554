import { ChosenCallTable } from '#components/logs/chosen-call-table';
import { LiveCalls } from '#components/logs/live/live-calls';
import { NoCalls } from '#components/logs/no-calls';
import { PagesNav } from '#components/pages-nav';
import { type ListUrl, listUrl } from '#lib/console/list-url';
import type { Membership } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { callRowOf } from '#lib/console/show/call-rows';
import { showFound, showRanked } from '#lib/console/show/found';
import { showZone } from '#lib/console/show/time';
import { listCalls } from '#lib/control/operations/call/operations';

const pageSize = 50;

interface CallListProps {
  /** Whether the page waits for new calls; an empty page is then not a dead end. */
  live: boolean;
  workspace: Membership['workspace'];
  filters: ListUrl;
  /** The columns in the URL; null: none. */
  columns: string | null;
}

/** One page of the log; the next one starts after its last call, however many arrive in the meantime. */
export async function CallList({ live, workspace, filters, columns }: CallListProps) {
  const { texts, input, faults } = filters;
  const readAt = new Date().toISOString();
  const none = { data: [], next: null, count: undefined, ranked: undefined };
  // Counted for the first page alone: the total is the same on the pages after it.
  const count = texts.after === undefined;
  const read = () => readForPage(listCalls, workspace.slug, { ...input, limit: pageSize, count });
  const { data: calls, next, count: counted, ranked } = faults.length > 0 ? none : await read();
  const here = `/${workspace.slug}/logs`;
  if (calls.length === 0 && next === null && !(live && faults.length === 0)) {
    const narrowed = Object.keys(texts).some((name) => name !== 'sort');
    return (
      <NoCalls workspace={workspace.slug} searched={'id' in texts} narrowed={narrowed} faults={faults} />
    );
  }
  const nowMs = Date.now();
  const place = { workspace: workspace.slug, timeZone: workspace.timeZone, nowMs };
  const rows = calls.map((call) => callRowOf(call, place));
  return (
    <div className="grid min-w-0 gap-3">
      {texts.after === undefined && texts.sort === undefined && faults.length === 0 ? (
        <LiveCalls
          key={listUrl(here, texts)}
          calls={rows}
          readAt={readAt}
          address={listUrl(`${here}/new`, texts)}
        />
      ) : (
        <>
          {rows.length > 0 ? <ChosenCallTable calls={rows} folded={texts.sort === undefined} /> : null}
          {rows.length === 0 ? (
            <p className="px-4 py-3 text-muted">
              No matches in the calls searched so far. Go to the next page to search older calls.
            </p>
          ) : null}
        </>
      )}
      <PagesNav
        label="Pages of the log"
        {...(ranked ? { words: { first: 'First', next: 'More' } } : {})}
        first={texts.after ? listUrl(here, { ...texts, columns, after: null }) : null}
        next={next ? listUrl(here, { ...texts, columns, after: next }) : null}
      >
        {counted ? `${showFound(counted)} ` : null}
        {ranked ? `${showRanked(ranked, workspace.timeZone)} ` : null}
        Times in {showZone(workspace.timeZone, nowMs)}. A call appears within 2 seconds of ending.
      </PagesNav>
    </div>
  );
}
