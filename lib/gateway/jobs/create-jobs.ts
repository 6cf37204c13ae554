import type { Pool } from 'pg';
import { jsonText } from '#lib/gateway/jobs/json-text';
import { openJob } from '#lib/gateway/jobs/open-job';
import { settleJob } from '#lib/gateway/jobs/settle-job';
import { type JobStore, type StoredRow, storedColumns, storedJob } from '#lib/gateway/jobs/stored-job';
import type { FlaggedCharge } from '#lib/gateway/metrics/charge-flags';
import { queryWithin } from '#lib/platform/data/query-within';
import { repeatable } from '#lib/platform/data/transaction/repeatable';

/** The rows of one poll round are taken by one process: others pass over what is locked. */
const takeDue = `
  WITH due AS MATERIALIZED (
    SELECT call_id FROM job WHERE next_poll_at <= $1 AND provider_id <> ALL ($4::text[])
    ORDER BY next_poll_at LIMIT $3 FOR UPDATE SKIP LOCKED
  )
  UPDATE job SET next_poll_at = $2, polls = polls + 1 WHERE call_id IN (SELECT call_id FROM due)
  RETURNING ${storedColumns}`;

/** Answers may be read out of order: what runs was queued before, never after. */
const note = `
  UPDATE job SET misses = coalesce($3::int, misses), next_poll_at = coalesce($4::timestamptz, next_poll_at),
    state = CASE WHEN $2::text IS NULL OR (state = 'running' AND $2 = 'queued') THEN state ELSE $2 END,
    view = coalesce($5::jsonb, view)
  WHERE call_id = $1 AND settled_at IS NULL AND ($3::int IS NOT NULL OR $4::timestamptz IS NOT NULL
    OR state IS DISTINCT FROM coalesce($2, state) OR view IS DISTINCT FROM coalesce($5::jsonb, view))`;

const lose = `
  WITH lost AS (
    UPDATE job SET lost_at = $2, next_poll_at = $3, flags = flags || ARRAY['job_lost']
    WHERE call_id = $1 AND settled_at IS NULL AND lost_at IS NULL RETURNING call_id
  )
  DELETE FROM hold WHERE call_id IN (SELECT call_id FROM lost)`;

const page = (order: 'asc' | 'desc') => `
  SELECT view FROM job
  WHERE workspace_id = $1 AND kind = $2 AND deleted_at IS NULL AND view IS NOT NULL AND created_at >= $5
    AND ($3::uuid IS NULL OR call_id ${order === 'asc' ? '>' : '<'} $3)
  ORDER BY call_id ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT $4`;

/** A statement about one job, or a page of them. */
const QUERY_MS = 10_000;

/**
 * Jobs in PostgreSQL.
 * @param charged hears of each settled job that has flags.
 */
export function createJobStore(pool: Pool, charged: (charge: FlaggedCharge) => void = () => {}): JobStore {
  const query = queryWithin(pool, QUERY_MS);
  return {
    open: (job, nextPollAtMs) => openJob(pool, job, nextPollAtMs),

    async find(callId) {
      const { rows } = await query<StoredRow>(`SELECT ${storedColumns} FROM job WHERE call_id = $1`, [
        callId,
      ]);
      return rows[0] ? storedJob(rows[0]) : null;
    },

    async takeDue({ nowMs, leasedUntilMs, most, busy }) {
      const values = [new Date(nowMs), new Date(leasedUntilMs), most, busy];
      const { rows } = await query<StoredRow>(takeDue, values);
      return rows.map(storedJob);
    },

    async hasten(nowMs, beyondMs) {
      const values = [new Date(nowMs), new Date(beyondMs)];
      await query('UPDATE job SET next_poll_at = $1 WHERE next_poll_at > $2', values);
    },

    async note(callId, { sight, misses, nextPollAtMs }) {
      await query(note, [
        callId,
        sight?.state ?? null,
        misses ?? null,
        nextPollAtMs === undefined ? null : new Date(nextPollAtMs),
        sight?.view ? jsonText(sight.view) : null,
      ]);
    },

    async noteRemoving(callId, state) {
      await query('UPDATE job SET removing = $2 WHERE call_id = $1 AND settled_at IS NULL', [callId, state]);
    },

    async lose(callId, atMs, nextPollAtMs) {
      const values = [callId, new Date(atMs), new Date(nextPollAtMs)];
      const released = await repeatable(pool, (client) => client.query(lose, values));
      return released.rowCount === 1;
    },

    settle: (callId, ending) => settleJob(pool, callId, ending, charged),

    async markRemoved(callId, atMs) {
      await query('UPDATE job SET deleted_at = coalesce(deleted_at, $2) WHERE call_id = $1', [
        callId,
        new Date(atMs),
      ]);
    },

    async list(workspaceId, kind, { after, limit, order, sinceMs }) {
      let afterId: string | null = null;
      if (after !== null) {
        const found = await query<{ call_id: string }>(
          'SELECT call_id FROM job WHERE workspace_id = $1 AND kind = $2 AND upstream_id = $3 ORDER BY call_id DESC LIMIT 1',
          [workspaceId, kind, after],
        );
        afterId = found.rows[0]?.call_id ?? null;
        if (afterId === null) return { views: [], more: false };
      }
      const { rows } = await query<{ view: Record<string, unknown> }>(page(order), [
        workspaceId,
        kind,
        afterId,
        limit + 1,
        new Date(sinceMs),
      ]);
      return { views: rows.slice(0, limit).map((row) => row.view), more: rows.length > limit };
    },
  };
}
