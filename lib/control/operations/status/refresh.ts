import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import { ownModel } from '#lib/gateway/settlement/pure/own-answer';
import { type Query, queryWithin } from '#lib/platform/data/query-within';
import { idFloor } from '#lib/platform/ids';

const dayMs = 86_400_000;
/** Days shown on the page. */
export const statusDays = 90;
/** Calls of a day that are sampled for what the gateway itself adds. */
const sampledCalls = 10_000;
const limitMs = 60_000;

/** Longer than counting a day may take; with each day that it counts, the process renews it. */
const turnEnds = "now() + interval '2 minutes'";

/** At most every five minutes and by one of all processes, which limits the work that strangers can cause. */
const take = `
  UPDATE fleet_duty SET taken_until = ${turnEnds}
  WHERE name = 'status' AND (taken_until IS NULL OR taken_until <= now())
    AND (done_at IS NULL OR done_at <= now() - interval '5 minutes')
  RETURNING done_at AS "doneAt", (result->>'next')::timestamptz AS next`;

/** Where the next process continues if this one ends early. */
const note = `
  UPDATE fleet_duty SET taken_until = ${turnEnds},
    result = coalesce(result, '{}') || jsonb_build_object('lastHour', $1::jsonb, 'next', $2::timestamptz)
  WHERE name = 'status'`;

const end = `
  UPDATE fleet_duty SET taken_until = NULL, done_at = now(), result = jsonb_build_object('lastHour', $1::jsonb)
  WHERE name = 'status'`;

/** Without made-up calls, and without what the gateway answers itself (contract: call-log/own-answers). A quarter is in one of the two tables; a single statement sees it once. */
const quarters = `
  SELECT q.* FROM (
    SELECT workspace_id, quarter, provider, calls, refused, provider_errors, timeout_errors, broken_errors,
      gateway_errors, first_byte FROM usage_quarter WHERE model <> '${ownModel}'
        AND quarter >= $1::timestamptz AND quarter < $2::timestamptz
    UNION ALL SELECT workspace_id, quarter, provider, calls, refused, provider_errors, timeout_errors, broken_errors,
      gateway_errors, first_byte FROM usage_quarter_counted WHERE model <> '${ownModel}'
        AND quarter >= $1::timestamptz AND quarter < $2::timestamptz
  ) AS q JOIN workspace w ON w.id = q.workspace_id AND NOT w.demo`;

/** Failures of a provider are its own errors; of the gateway, calls that it could not serve or lost before any attempt. */
const counted = (start: string) => `
  SELECT ${start} AS start, provider, sum(calls - refused) AS calls,
    sum(provider_errors + timeout_errors + broken_errors) AS failed, sum(first_byte) AS first_byte
  FROM quarters WHERE provider <> '' GROUP BY 1, 2
  UNION ALL SELECT ${start}, '', sum(calls),
    sum(gateway_errors + CASE WHEN provider = '' THEN broken_errors ELSE 0 END), 0
  FROM quarters GROUP BY 1`;

const countDay = `
  WITH quarters AS (${quarters})
  INSERT INTO status_day AS s (day, provider, calls, failed, first_byte)
  ${counted('$1::timestamptz')}
  ON CONFLICT (day, provider) DO UPDATE SET calls = excluded.calls, failed = excluded.failed,
    first_byte = excluded.first_byte`;

const countLastHour = `WITH quarters AS (${quarters})
  SELECT provider, calls::text, failed::text FROM (${counted('NULL')}) AS counted`;

const sampleOwn = `
  UPDATE status_day SET own_p50 = o.p[1], own_p95 = o.p[2]
  FROM (
    SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY c.overhead_ms) AS p
    FROM (SELECT overhead_ms, end_reason, workspace_id FROM call WHERE id >= $2::uuid AND id < $3::uuid
      ORDER BY id DESC LIMIT ${sampledCalls}) AS c
    JOIN workspace w ON w.id = c.workspace_id AND NOT w.demo
    WHERE c.end_reason NOT IN ('refused', 'interrupted')
  ) AS o WHERE day = $1::timestamptz AND provider = '' AND o.p IS NOT NULL`;

/**
 * Updates the days of the status page, if that is due and no other process does it: a day at a time,
 * oldest first, pausing as long as each took, so that no statement keeps a connection or a lock for long. Only the days
 * since the last time are read, and the day before them, to which late journals and jobs may still add.
 * @returns whether it was this process's turn.
 * @throws Error of the database; when the turn has expired, the next process continues with the day that failed.
 */
export async function keepStatusFresh(pool: Pool, nowMs: number): Promise<boolean> {
  const query = queryWithin(pool, limitMs);
  const { rows } = await query<{ doneAt: Date | null; next: Date | null }>(take);
  const [turn] = rows;
  if (turn === undefined) return false;
  const today = dayOf(nowMs);
  const earliest = today - (statusDays - 1) * dayMs;
  const before = turn.doneAt && dayOf(turn.doneAt.getTime()) - dayMs;
  const sinceMs = turn.next?.getTime() ?? before ?? (await firstDay(query, today));
  const lastHour = await countHour(query, nowMs);
  for (let day = Math.max(earliest, sinceMs); day <= today; day += dayMs) {
    const startedMs = performance.now();
    await query(note, [lastHour, new Date(day)]);
    const ends = day + dayMs;
    await query(countDay, [new Date(day), new Date(ends)]);
    await query(sampleOwn, [new Date(day), idFloor(day), idFloor(ends)]);
    await pause(performance.now() - startedMs, undefined, { ref: false });
  }
  await query('DELETE FROM status_day WHERE day < $1::timestamptz', [new Date(earliest)]);
  await query(end, [lastHour]);
  return true;
}

/** The day of the first quarter in the database; `today` if there is none. */
async function firstDay(query: Query, today: number): Promise<number> {
  const { rows } = await query<{ at: Date | null }>(
    `SELECT least((SELECT min(quarter) FROM usage_quarter), (SELECT min(quarter) FROM usage_quarter_counted)) AS at`,
  );
  return dayOf(rows[0]?.at?.getTime() ?? today);
}

/** JSON of [provider, calls, failed]. */
async function countHour(query: Query, nowMs: number): Promise<string> {
  const { rows } = await query<{ provider: string; calls: string; failed: string }>(countLastHour, [
    new Date(nowMs - 3_600_000),
    new Date(nowMs + dayMs),
  ]);
  return JSON.stringify(rows.map(({ provider, calls, failed }) => [provider, Number(calls), Number(failed)]));
}

const counting = new WeakSet<Pool>();

/** The same in the background: nothing waits for it. After a failure, the next request tries again. */
export function refreshStatus(pool: Pool, nowMs: number): void {
  if (counting.has(pool)) return;
  counting.add(pool);
  keepStatusFresh(pool, nowMs)
    .catch(() => undefined)
    .finally(() => counting.delete(pool));
}

/** The start of a day in UTC, ms since the epoch. */
export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs;
}
