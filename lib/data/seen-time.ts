import type { Pool } from 'pg';
import { idTimeMs } from '#lib/ids';

/** How far the clock may have moved on while no process looked, and still be believed at once. */
const believedMs = 24 * 3_600_000;
/** How long processes must have run with a clock that was further ahead before it is believed. */
const convincedMs = 24 * 3_600_000;

/** Up to when the clock was believed. */
export interface SeenTime {
  /** ms since the epoch. */
  readonly atMs: number;
  /** How long processes have run while their clock was too far ahead of that, ms. */
  readonly aheadMs: number;
}

/**
 * What is believed after a look at the clock. A clock that leapt ahead is believed once processes have run with
 * it for a day, restarts in between or not: a wrong one is noticed by then, and a machine that was off for long
 * is right. A clock that is behind is believed at once: nothing is dropped because of it.
 * @param nowMs the clock, ms since the epoch.
 * @param ranMs how long this process has run since it looked last, ms; 0 at its start.
 */
export function advance(seen: SeenTime, nowMs: number, ranMs: number): SeenTime {
  if (nowMs <= seen.atMs + believedMs) return { atMs: nowMs, aheadMs: 0 };
  const aheadMs = seen.aheadMs + ranMs;
  return aheadMs >= convincedMs ? { atMs: nowMs, aheadMs: 0 } : { atMs: seen.atMs, aheadMs };
}

/**
 * Looks at the clock for the whole installation and keeps what is believed of it. Without an earlier look, the
 * newest call of the log tells the time, if there is one.
 * @param nowMs the clock of this process; of it and the database's the earlier one counts.
 * @param ranMs as for `advance`.
 * @returns the time that retention may go by: never later than what an earlier look believed.
 * @throws Error of the database.
 */
export async function lookAtClock(
  pool: Pool,
  nowMs: number,
  ranMs: number,
): Promise<{ readonly allowedMs: number; readonly believed: boolean }> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query<{
      now: Date;
      at: Date | null;
      ahead_ms: string | null;
      newest: string | null;
    }>(
      `SELECT now() AS now, seen.at, seen.ahead_ms::text AS ahead_ms,
         (SELECT id::text FROM call ORDER BY id DESC LIMIT 1) AS newest
       FROM (SELECT 1) AS one LEFT JOIN (SELECT * FROM seen_time FOR UPDATE) AS seen ON true`,
    );
    const row = rows[0];
    const clockMs = Math.min(nowMs, row?.now.getTime() ?? nowMs);
    const newestMs = row?.newest ? idTimeMs(row.newest) : clockMs;
    const seen = {
      atMs: row?.at?.getTime() ?? Math.min(clockMs, newestMs),
      aheadMs: Number(row?.ahead_ms ?? 0),
    };
    const next = advance(seen, clockMs, ranMs);
    await client.query(
      `INSERT INTO seen_time (one, at, ahead_ms) VALUES (1, $1, $2)
       ON CONFLICT (one) DO UPDATE SET at = excluded.at, ahead_ms = excluded.ahead_ms`,
      [new Date(next.atMs).toISOString(), Math.round(next.aheadMs)],
    );
    await client.query('COMMIT');
    client.release();
    return { allowedMs: Math.min(clockMs, seen.atMs), believed: next.atMs === clockMs };
  } catch (error) {
    client.release(true);
    throw error;
  }
}
