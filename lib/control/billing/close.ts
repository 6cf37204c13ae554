import type { PoolClient } from 'pg';

/** Calls that retention is about to delete. */
export interface LeavingCalls {
  /** Those of one workspace; null: those of all. */
  readonly workspaceId: string | null;
  /** Ids in [fromId, toId). */
  readonly fromId: string;
  readonly toId: string;
  /** Only these of them; null: all of them. */
  readonly ids: readonly string[] | null;
}

const leavingCalls = `
  SELECT workspace_id, key_id, settled_at, cost_nano FROM call
  WHERE id >= $2::uuid AND id < $1::uuid AND ($3::uuid IS NULL OR workspace_id = $3::uuid)
    AND ($4::uuid[] IS NULL OR id = ANY ($4::uuid[]))`;

/** The charge of a job that was given up before has its own line in the ledger. */
const leavingJobs = `
  DELETE FROM job WHERE call_id IN (
    SELECT call_id FROM job WHERE settled_at IS NOT NULL AND call_id < $1::uuid ORDER BY call_id LIMIT $2::int)
  RETURNING workspace_id, key_id, settled_at, CASE WHEN lost_at IS NULL THEN cost_nano ELSE 0 END AS cost_nano`;

/** $1: calls of ids up to this one may be gone afterwards. */
const book = (leaving: string) => `
  WITH leaving AS (${leaving}
  ), paid AS MATERIALIZED (
    SELECT * FROM leaving WHERE cost_nano <> 0
  ), parts AS (
    SELECT workspace_id, ledger_quarter(settled_at) AS quarter, sum(cost_nano)::bigint AS spent_nano,
      count(*)::int AS calls, date_trunc('milliseconds', min(settled_at)) AS from_at, max(settled_at) AS to_at
    FROM paid GROUP BY 1, 2
  ), keys AS (
    INSERT INTO closed_spend AS k (key_id, spent_nano)
    SELECT key_id, sum(cost_nano) FROM paid GROUP BY 1 ORDER BY 1
    ON CONFLICT (key_id) DO UPDATE SET spent_nano = k.spent_nano + excluded.spent_nano
  ), quarters AS (
    INSERT INTO open_quarter AS o (workspace_id, quarter, spent_nano, calls)
    SELECT workspace_id, quarter, spent_nano, calls FROM parts ORDER BY 1, 2
    ON CONFLICT (workspace_id, quarter) DO UPDATE
      SET spent_nano = o.spent_nano + excluded.spent_nano, calls = o.calls + excluded.calls
  )
  INSERT INTO ledger_check AS c (workspace_id, day, from_at, to_at, deleted_to, spent_nano, calls)
  SELECT workspace_id, date_trunc('day', now(), 'UTC'), min(from_at), max(to_at), $1::uuid, sum(spent_nano), sum(calls)
  FROM parts GROUP BY 1 ORDER BY 1
  ON CONFLICT (workspace_id, day) DO UPDATE SET checked_at = excluded.checked_at,
    from_at = least(c.from_at, excluded.from_at), to_at = greatest(c.to_at, excluded.to_at),
    deleted_to = greatest(c.deleted_to, excluded.deleted_to),
    spent_nano = c.spent_nano + excluded.spent_nano, calls = c.calls + excluded.calls`;

/** Quarters that are completely deleted and agree with their lines; a line of the last hour may still grow. */
const forgetWhole = `
  DELETE FROM open_quarter o USING ledger_line l
  WHERE l.kind = 'usage' AND l.workspace_id = o.workspace_id AND l.at = o.quarter
    AND (l.amount_nano, l.calls) = (-o.spent_nano, o.calls) AND o.quarter < now() - interval '1 hour'`;

/**
 * Books the calls that retention deletes next, and compares them with the ledger for the last time
 * (contract: call-log/last-check): a quarter of an hour whose calls are all gone must add up to its line, otherwise its
 * sum is kept for `ledger verify` to show. Runs once for these calls, in the transaction that deletes them; none may be
 * added in the meantime.
 * @throws Error of the database: the calls stay, and the next round tries again.
 */
export async function closeCalls(
  client: PoolClient,
  { workspaceId, fromId, toId, ids }: LeavingCalls,
): Promise<void> {
  await client.query(book(leavingCalls), [toId, fromId, workspaceId, ids]);
  await client.query(forgetWhole);
}

/**
 * Deletes settled jobs whose ids lie below one, at most `limit`, and books them as `closeCalls` does calls.
 * @param client in a transaction.
 * @returns whether there may be more.
 * @throws Error of the database.
 */
export async function deleteJobs(client: PoolClient, belowId: string, limit: number): Promise<boolean> {
  const before = await client.query<{ jobs: number }>(
    'SELECT count(*)::int AS jobs FROM (SELECT FROM job WHERE settled_at IS NOT NULL AND call_id < $1::uuid LIMIT $2) AS j',
    [belowId, limit],
  );
  const found = before.rows[0]?.jobs ?? 0;
  if (found === 0) return false;
  await client.query(book(leavingJobs), [belowId, limit]);
  await client.query(forgetWhole);
  return found === limit;
}
