import type { Pool, PoolClient } from 'pg';
import { OPEN_LIFE } from '#lib/gateway/admission/database/fund';
import { interrupt } from '#lib/gateway/settlement/interrupt';
import type { CloseEntry, DrainedEntry } from '#lib/gateway/settlement/pure/entry';
import { entryOf } from '#lib/gateway/settlement/record/read';

/** Most calls that one look ends. */
const MOST_EXPIRED = 200;

/**
 * Takes the right to end calls, for this transaction: of those with a hold row the ones whose `open_call` is still there.
 * The others have ended before.
 */
export async function takeTokens(
  client: PoolClient,
  entries: readonly DrainedEntry[],
  whose: 'own' | 'expired',
): Promise<readonly DrainedEntry[]> {
  const ids = entries.filter(needsToken).map(({ callId }) => callId);
  if (ids.length === 0) return entries;
  const { rows } = await client.query<{ id: string }>(
    `DELETE FROM open_call WHERE call_id IN (
       SELECT call_id FROM open_call WHERE call_id = ANY ($1::uuid[])
         ${whose === 'expired' ? 'AND expires_at < now()' : ''} ORDER BY call_id FOR UPDATE)
     RETURNING call_id::text AS id`,
    [ids],
  );
  const taken = new Set(rows.map(({ id }) => id));
  return entries.filter((entry) => !needsToken(entry) || taken.has(entry.callId.toLowerCase()));
}

function needsToken(entry: DrainedEntry): boolean {
  return entry.kind === 'close' && entry.funding === 'row';
}

/** Keeps these calls running for another while. */
export async function renew(pool: Pool, callIds: readonly string[]): Promise<void> {
  await pool.query(
    `UPDATE open_call SET expires_at = now() + ${OPEN_LIFE} WHERE call_id IN (
       SELECT call_id FROM open_call WHERE call_id = ANY ($1::uuid[]) ORDER BY call_id FOR UPDATE)`,
    [callIds],
  );
}

/** Writes what running calls would cost if they ended here, and keeps them running. */
export async function writeCheckpoints(pool: Pool, checkpoints: ReadonlyMap<string, Buffer>): Promise<void> {
  await pool.query(
    `WITH news AS (SELECT * FROM unnest($1::uuid[], $2::bytea[]) AS n (call_id, checkpoint)),
       mine AS (SELECT o.call_id FROM open_call o JOIN news USING (call_id) ORDER BY o.call_id FOR UPDATE OF o)
     UPDATE open_call o SET checkpoint = news.checkpoint, expires_at = now() + ${OPEN_LIFE}
     FROM news JOIN mine USING (call_id) WHERE o.call_id = news.call_id`,
    [[...checkpoints.keys()], [...checkpoints.values()]],
  );
}

/** How calls end whose processes have not been heard from (contract: money/interrupted). */
export async function listExpired(pool: Pool): Promise<CloseEntry[]> {
  const { rows } = await pool.query<{ entry: Buffer; checkpoint: Buffer | null }>(
    `SELECT entry, checkpoint FROM open_call WHERE expires_at < now() ORDER BY call_id LIMIT ${MOST_EXPIRED}`,
  );
  return rows.flatMap(({ entry, checkpoint }) => {
    const open = entryOf(entry);
    const last = checkpoint === null ? null : entryOf(checkpoint);
    if (open?.kind !== 'open') return [];
    return [interrupt(open, last?.kind === 'checkpoint' ? last : null)];
  });
}
