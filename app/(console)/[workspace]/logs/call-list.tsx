import { CallTable } from '#components/logs/call-table';
import { NoCalls } from '#components/logs/no-calls';
import { PagesNav } from '#components/pages-nav';
import { type ListAddress, listAddress } from '#lib/console/list-address';
import type { Membership } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { callRowOf } from '#lib/console/show/call-rows';
import { showZone } from '#lib/console/show/time';
import { listCalls } from '#lib/control/call/operations';

const pageSize = 50;

interface CallListProps {
  workspace: Membership['workspace'];
  filters: ListAddress;
}

/** One page of the log; the next one starts after its last call, however many arrive meanwhile. */
export async function CallList({ workspace, filters: { texts, input, faults } }: CallListProps) {
  const none = { data: [], next: null };
  const read = () => readForPage(listCalls, workspace.slug, { ...input, limit: pageSize });
  const { data: calls, next } = faults.length > 0 ? none : await read();
  const here = `/${workspace.slug}/logs`;
  if (calls.length === 0) {
    const narrowed = Object.keys(texts).length > 0;
    return (
      <NoCalls workspace={workspace.slug} searched={'id' in texts} narrowed={narrowed} faults={faults} />
    );
  }
  const nowMs = Date.now();
  const place = { workspace: workspace.slug, timeZone: workspace.timeZone, nowMs };
  return (
    <div className="grid min-w-0 gap-3">
      <CallTable calls={calls.map((call) => callRowOf(call, place))} />
      <PagesNav
        label="Pages of the log"
        first={texts.after ? listAddress(here, { ...texts, after: null }) : null}
        next={next ? listAddress(here, { ...texts, after: next }) : null}
      >
        Times in {showZone(workspace.timeZone, nowMs)}. A call appears within 2 seconds of its end.
      </PagesNav>
    </div>
  );
}
