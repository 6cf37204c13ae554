import type { Pool } from 'pg';
import { idTimeMs } from '#lib/platform/ids';

/** A clock at most this far ahead of the last believed time is believed at once, ms. */
const believedMs = 24 * 3_600_000;
/** A clock further ahead is believed after processes have run with it for this long, ms. */
const convincedMs = 24 * 3_600_000;

/** The last believed time. */
export interface SeenTime {
  /** ms since the epoch. */
  readonly atMs: number;
  /** How long processes have run with a clock too far ahead of it, ms. */
  readonly aheadMs: number;
}

/**
 * Updates the believed time from a reading of the clock. A clock more than a day ahead is believed after processes have
 * run with it for a day, across restarts: by then a wrong clock is noticed, and a machine that was off for long has a
 * right one. A clock that is behind is believed at once, because nothing is dropped too early by it. Processes that run
 * side by side count once: each continues from the result of its own last reading, and the longest time counts.
 * @param nowMs the reading, ms since the epoch.
 * @param last the result of this process's last reading; null at its start.
 * @param ranMs how long this process has run since then, ms.
 */
export function advance(seen: SeenTime, nowMs: number, last: SeenTime | null, ranMs: number): SeenTime {
  if (nowMs <= seen.atMs + believedMs) return { atMs: nowMs, aheadMs: 0 };
  // A different time has been believed since then: what was counted towards the old one no longer applies.
  const ownMs = last?.atMs === seen.atMs ? last.aheadMs + ranMs : 0;
  const aheadMs = Math.max(seen.aheadMs, ownMs);
  return aheadMs >= convincedMs ? { atMs: nowMs, aheadMs: 0 } : { atMs: seen.atMs, aheadMs };
}

/**
 * Updates the believed time of the installation, which is kept in the database. The first reading starts from the time
 * of the newest call in the log, if there is one.
 * @param nowMs clock of this process, ms since the epoch; the earlier of it and the database's clock counts.
 * @param last as for `advance`: `seen` of the last return.
 * @param ranMs as for `advance`.
 * @returns `allowedMs`: the time that retention may go by, never later than the previously believed time.
 * @throws Error of the database.
 */
export async function lookAtClock(
  pool: Pool,
  nowMs: number,
  last: SeenTime | null,
  ranMs: number,
): Promise<{ readonly allowedMs: number; readonly believed: boolean; readonly seen: SeenTime }> {
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
    const next = advance(seen, clockMs, last, ranMs);
    await client.query(
      `INSERT INTO seen_time (one, at, ahead_ms) VALUES (1, $1, $2)
       ON CONFLICT (one) DO UPDATE SET at = excluded.at, ahead_ms = excluded.ahead_ms`,
      [new Date(next.atMs).toISOString(), Math.round(next.aheadMs)],
    );
    await client.query('COMMIT');
    client.release();
    return { allowedMs: Math.min(clockMs, seen.atMs), believed: next.atMs === clockMs, seen: next };
  } catch (error) {
    client.release(true);
    throw error;
  }
}
