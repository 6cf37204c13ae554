import type { Pool } from 'pg';
import { queryWithin } from '#lib/data/query-within';
import { idFloor } from '#lib/ids';

const dayMs = 86_400_000;
/** How many days the page shows. */
export const statusDays = 90;
/** Calls of a day that are looked at for what the gateway itself adds. */
const sampledCalls = 10_000;
const limitMs = 60_000;

/** Every five minutes at most, and by one process of all: strangers cause no more work than that. */
const take = `
  WITH before AS (SELECT done_at FROM fleet_duty WHERE name = 'status')
  UPDATE fleet_duty SET taken_until = now() + interval '3 minutes'
  WHERE name = 'status' AND (taken_until IS NULL OR taken_until <= now())
    AND (done_at IS NULL OR done_at <= now() - interval '5 minutes')
  RETURNING (SELECT done_at FROM before) AS "doneAt"`;

/** Made-up calls say nothing. A quarter stands in one of both tables: one statement sees it once. */
const quarters = `
  SELECT q.* FROM (
    SELECT workspace_id, quarter, provider, calls, refused, provider_errors, timeout_errors, broken_errors,
      gateway_errors, first_byte FROM usage_quarter WHERE quarter >= $1::timestamptz
    UNION ALL SELECT workspace_id, quarter, provider, calls, refused, provider_errors, timeout_errors, broken_errors,
      gateway_errors, first_byte FROM usage_quarter_counted WHERE quarter >= $1::timestamptz
  ) AS q JOIN workspace w ON w.id = q.workspace_id AND NOT w.demo`;

/** A provider fails by its own errors; the gateway by what it could serve nobody, or lost before a provider was asked. */
const counted = (start: string) => `
  SELECT ${start} AS start, provider, sum(calls - refused) AS calls,
    sum(provider_errors + timeout_errors + broken_errors) AS failed, sum(first_byte) AS first_byte
  FROM quarters WHERE provider <> '' GROUP BY 1, 2
  UNION ALL SELECT ${start}, '', sum(calls),
    sum(gateway_errors + CASE WHEN provider = '' THEN broken_errors ELSE 0 END), 0
  FROM quarters GROUP BY 1`;

const countDays = `
  WITH quarters AS (${quarters})
  INSERT INTO status_day AS s (day, provider, calls, failed, first_byte)
  ${counted("date_trunc('day', quarter, 'UTC')")}
  ON CONFLICT (day, provider) DO UPDATE SET calls = excluded.calls, failed = excluded.failed,
    first_byte = excluded.first_byte`;

const countLastHour = `WITH quarters AS (${quarters})
  SELECT provider, calls::text, failed::text FROM (${counted('NULL')}) AS counted`;

const sampleOwn = `
  UPDATE status_day AS s SET own_p50 = o.p[1], own_p95 = o.p[2]
  FROM (
    SELECT d.day, (SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY c.overhead_ms)
      FROM (SELECT overhead_ms, end_reason, workspace_id FROM call WHERE id >= d.first AND id < d.last
        ORDER BY id DESC LIMIT ${sampledCalls}) AS c
      JOIN workspace w ON w.id = c.workspace_id AND NOT w.demo
      WHERE c.end_reason NOT IN ('refused', 'interrupted')) AS p
    FROM unnest($1::timestamptz[], $2::uuid[], $3::uuid[]) AS d (day, first, last)
  ) AS o WHERE s.day = o.day AND s.provider = '' AND o.p IS NOT NULL`;

/**
 * Brings the days of the status page up to date, where that is due and no other process does it. Only the days since the
 * last time are read, and the one before them, which late journals and jobs may still add to.
 * @returns whether it was this process's turn.
 * @throws Error of the database; the next one to ask tries again in three minutes.
 */
export async function keepStatusFresh(pool: Pool, nowMs: number): Promise<boolean> {
  const query = queryWithin(pool, limitMs);
  const { rows } = await query<{ doneAt: Date | null }>(take);
  const [turn] = rows;
  if (turn === undefined) return false;
  const today = dayOf(nowMs);
  const earliest = today - (statusDays - 1) * dayMs;
  const from = turn.doneAt === null ? earliest : Math.max(earliest, dayOf(turn.doneAt.getTime()) - dayMs);
  await query(countDays, [new Date(from)]);
  const days: number[] = [];
  for (let day = from; day <= today; day += dayMs) days.push(day);
  await query(sampleOwn, [
    days.map((day) => new Date(day)),
    days.map(idFloor),
    days.map((day) => idFloor(day + dayMs)),
  ]);
  const hour = await query<{ provider: string; calls: string; failed: string }>(countLastHour, [
    new Date(nowMs - 3_600_000),
  ]);
  const lastHour = hour.rows.map(({ provider, calls, failed }) => [provider, Number(calls), Number(failed)]);
  await query('DELETE FROM status_day WHERE day < $1::timestamptz', [new Date(earliest)]);
  await query(
    `UPDATE fleet_duty SET taken_until = NULL, done_at = now(), result = $1::jsonb WHERE name = 'status'`,
    [JSON.stringify({ lastHour })],
  );
  return true;
}

/** The start of a day in UTC, ms since the epoch. */
export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs;
}
