import { setTimeout as pause } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { closeCalls } from '#lib/control/billing/close';
import { takeTurn } from '#lib/control/retention/gap';
import { keptFromId } from '#lib/control/retention/weeks';
import { transact } from '#lib/platform/data/transaction/transaction';

const batch = 1_000;
const limits = { lockMs: 1_000, statementMs: 30_000 };
/**
 * A call that was charged by estimate stays this long, hidden: a later report may correct it for as long as the
 * provider keeps its response (contract: money/late-usage).
 */
const correctableDays = 35;

/**
 * $2: above it; $3: below it; $4: from there on a report may still come. Calls with a job or an adjustment, which are
 * few, stay hidden until their week is dropped, because their money is in those rows.
 */
const nextBatch = `
  SELECT c.id::text AS id FROM call c
  WHERE c.workspace_id = $1::uuid AND c.id > $2::uuid AND c.id < $3::uuid
    AND (c.id < $4::uuid OR c.usage_source <> 'estimated')
    AND NOT EXISTS (SELECT FROM job j WHERE j.call_id = c.id)
    AND NOT EXISTS (SELECT FROM adjustment a WHERE a.call_id = c.id)
  ORDER BY c.id LIMIT ${batch}`;

const setKeptFrom = `
  UPDATE workspace SET calls_kept_from = $2::uuid
  WHERE id = $1::uuid AND (calls_kept_from IS NULL OR calls_kept_from < $2::uuid)`;

interface Hiding {
  id: string;
  days: number;
}

/**
 * Deletes the calls that workspaces keep for a shorter time than the gateway and that are no longer shown, in batches
 * (contract: call-log/workspace-retention). Each batch is a transaction, one at a time across all processes, so that a
 * killed process loses nothing and the next round continues where it ended.
 * @param nowMs the time that retention may go by, ms since the epoch.
 * @param stopped asked between two batches.
 */
export async function deleteHidden(
  pool: Pool,
  nowMs: number,
  leaving: typeof closeCalls,
  stopped: () => boolean,
): Promise<void> {
  const { rows } = await pool.query<Hiding>(
    'SELECT id::text AS id, retention_days AS days FROM workspace WHERE retention_days IS NOT NULL ORDER BY id',
  );
  for (const { id, days } of rows) {
    const below = keptFromId(nowMs, days);
    const correctable = keptFromId(nowMs, Math.max(days, correctableDays));
    let after: string | null = keptFromId(nowMs, Number.MAX_SAFE_INTEGER);
    while (after !== null && !stopped()) {
      const startedMs = performance.now();
      const range: readonly string[] = [id, after, below, correctable];
      after = await transact(pool, limits, (client) => deleteBatch(client, range, leaving));
      // As long as it took: deleting never takes more than half of what the database can do.
      if (after !== null) await pause(performance.now() - startedMs);
    }
  }
}

/** @returns the last id of the batch; null when there are no more, or another process is deleting. */
async function deleteBatch(
  client: PoolClient,
  range: readonly string[],
  leaving: typeof closeCalls,
): Promise<string | null> {
  if (!(await takeTurn(client))) return null;
  const [workspaceId = '', , below = ''] = range;
  const { rows } = await client.query<{ id: string }>(nextBatch, [...range]);
  const ids = rows.map((row) => row.id);
  const last = ids.at(-1);
  if (last === undefined) return null;
  await client.query(setKeptFrom, [workspaceId, below]);
  await leaving(client, { workspaceId, fromId: ids[0] ?? last, toId: below, ids });
  await client.query('DELETE FROM call WHERE id = ANY ($1::uuid[])', [ids]);
  return last;
}
