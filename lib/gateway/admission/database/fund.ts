import { lockAndRead, readFunds } from '#lib/gateway/admission/database/fund-read';
import { writeHolds, writeLease, writeRecalls } from '#lib/gateway/admission/database/fund-write';
import type { FundAnswer, FundRequest, LeaseRef } from '#lib/gateway/admission/money-store';
import { apportion } from '#lib/gateway/admission/pure/apportion';
import { publish } from '#lib/platform/data/change';
import type { Db } from '#lib/platform/data/db';

/** A server that does not answer is given up after this; the connection is then closed. */
const QUERY_MS = 4_000;

/**
 * One transaction for all wants of a workspace: lock, read, share out, write. Two round trips.
 * @throws when it failed; a COMMIT whose answer was lost may have happened.
 */
export async function fundOnce(
  db: Db,
  request: FundRequest,
  ownerId: string,
  epoch: number,
): Promise<FundAnswer> {
  const client = await db.pool.connect();
  try {
    const read = readFunds(await client.query(timed(lockAndRead(request, ownerId, epoch))), request);
    if (!read.alive) {
      await client.query('ROLLBACK');
      client.release();
      return { alive: false, verdicts: [], grants: [], left: [], owners: read.owners };
    }
    const parts = apportion(request, read.workspace, read.keys, read.owners);
    const writes: string[] = [];
    for (const state of [request.workspace, ...request.keys]) {
      const funds = state === request.workspace ? read.workspace : read.keys.get(state.subjectId);
      if (!funds) continue;
      const grant = parts.grants.get(funds);
      const keep = state.reclaim ? state.keepNano : null;
      if (grant || keep !== null) writes.push(writeLease(funds, ownerId, keep, grant));
    }
    const rows = request.wants.filter((_, position) => parts.verdicts[position]?.kind === 'row');
    writes.push(writeHolds(rows, request.workspaceId, ownerId));
    const recalls = request.recall ? parts.recalls : [];
    if (recalls.length > 0) {
      await client.query(timed(writes.join('') + writeRecalls(recalls, ownerId)));
      await publish(
        { query: (text, values) => client.query(text, values) },
        recalls.map((ref) => ({ kind: 'lease', subject: `${ref.kind}:${ref.subjectId}` })),
      );
      await client.query('COMMIT');
    } else {
      await client.query(timed(`${writes.join('')} COMMIT`));
    }
    client.release();
    return {
      alive: true,
      verdicts: parts.verdicts,
      grants: listed(parts.grants),
      left: listed(parts.left),
      owners: read.owners,
    };
  } catch (error) {
    // Closing the connection ends its transaction, whatever state it is in.
    client.release(true);
    throw error;
  }
}

function timed(text: string): { text: string; query_timeout: number } {
  return { text, query_timeout: QUERY_MS };
}

function listed<Value extends object>(values: ReadonlyMap<LeaseRef, Value>): (LeaseRef & Value)[] {
  return [...values].map(([{ kind, subjectId }, value]) => ({ kind, subjectId, ...value }));
}
