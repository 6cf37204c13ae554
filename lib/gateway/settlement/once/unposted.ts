import type { Pool, PoolClient } from 'pg';
import { readPositions } from '#lib/gateway/settlement/once/positions';
import type { DrainedEntry, SettledEntry } from '#lib/gateway/settlement/pure/entry';

const known = 'SELECT call_id::text AS id FROM settled_apart WHERE call_id = ANY ($1::uuid[])';

/**
 * Those of a journal's entries that it does not show as posted: whether their calls are still in the log does not
 * matter. Locks its positions, so that copies of a journal are read one after the other.
 */
export async function unpostedOf(
  client: PoolClient,
  ownerId: string,
  entries: readonly DrainedEntry[],
): Promise<readonly DrainedEntry[]> {
  const positions = await readPositions(client, ownerId, true);
  const left = entries.filter(({ place }) => !place || !positions.covers(place));
  const ids = left.filter((entry) => entry.kind !== 'keep').map((entry) => entry.callId);
  if (ids.length === 0) return left;
  // A call may have ended as interrupted while the file with its end was missing.
  const { rows } = await client.query<{ id: string }>(known, [ids]);
  if (rows.length === 0) return left;
  const apart = new Set(rows.map(({ id }) => id));
  return left.filter((entry) => entry.kind === 'keep' || !apart.has(entry.callId.toLowerCase()));
}

const insertApart = `
  INSERT INTO settled_apart (call_id) SELECT id FROM unnest($1::uuid[]) AS id ORDER BY id
  ON CONFLICT (call_id) DO NOTHING RETURNING call_id::text AS id`;

/**
 * Keeps for ever which calls are posted from no place in a journal, by id.
 * @param placed whether the places of the others are passed.
 * @returns the entries without those that were posted so before.
 */
export async function claimApart(
  client: PoolClient,
  byId: ReadonlyMap<string, SettledEntry>,
  placed: boolean,
): Promise<ReadonlyMap<string, SettledEntry>> {
  const isApart = ({ place }: SettledEntry) => !place || !placed;
  const apart = [...byId].flatMap(([id, entry]) => (isApart(entry) ? [id] : []));
  if (apart.length === 0) return byId;
  const { rows } = await client.query<{ id: string }>(insertApart, [apart]);
  if (rows.length === apart.length) return byId;
  const fresh = new Set(rows.map(({ id }) => id));
  return new Map([...byId].filter(([id, entry]) => !isApart(entry) || fresh.has(id)));
}

const doubtful = `
  SELECT g.id::text AS id FROM unnest($2::uuid[], $3::uuid[]) AS g (id, workspace_id)
  WHERE $1::uuid < (SELECT owner_id FROM journal_since)
    AND EXISTS (SELECT FROM ledger_check c WHERE c.workspace_id = g.workspace_id AND c.deleted_to >= g.id)
    AND NOT EXISTS (SELECT FROM call WHERE call.id = g.id)
    AND NOT EXISTS (SELECT FROM settled_apart s WHERE s.call_id = g.id)`;

/**
 * Entries of a version that kept no positions whose calls may have been posted and deleted since: nobody can know.
 * @returns the ids of their calls.
 */
export async function doubtfulOf(
  pool: Pool,
  ownerId: string,
  entries: readonly DrainedEntry[],
): Promise<ReadonlySet<string>> {
  const calls = entries.flatMap((entry) => (entry.kind === 'keep' ? [] : [entry.call]));
  if (calls.length === 0) return new Set();
  const { rows } = await pool.query<{ id: string }>(doubtful, [
    ownerId,
    calls.map(({ id }) => id),
    calls.map(({ workspaceId }) => workspaceId),
  ]);
  return new Set(rows.map(({ id }) => id));
}
