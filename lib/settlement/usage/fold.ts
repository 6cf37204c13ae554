import type { Pool, PoolClient } from 'pg';
import { dayCeiling, dayStart, daysLater, knownZone, monthsEarlier } from '#lib/charts/zone';
import type { Clock } from '#lib/clock';
import { sumNames } from '#lib/settlement/usage/columns';

/** Quarters of an hour are kept for this many whole months; what is older is kept by days. */
const monthsOfQuarters = 13;
const roundMs = 3_600_000;

/**
 * Usage before this moment is kept by days of the workspace's time zone: the start of a day.
 * @param nowMs ms since the epoch.
 */
export function foldedBefore(nowMs: number, zone: string): number {
  return monthsEarlier(nowMs, knownZone(zone), monthsOfQuarters);
}

const findDue = `
  SELECT w.id::text AS id, w.time_zone, (SELECT min(quarter) FROM usage_quarter u WHERE u.workspace_id = w.id) AS oldest
  FROM workspace w ORDER BY w.id`;

/**
 * Moves a day's quarters of a workspace into its row of the day, all in one statement: run again, or twice at
 * once, it finds nothing more to move. What a late journal brings after that is added by the next round.
 */
const foldDay = `
  WITH moved AS (
    DELETE FROM usage_quarter WHERE workspace_id = $1::uuid AND quarter >= $2::timestamptz AND quarter < $3::timestamptz
    RETURNING *
  )
  INSERT INTO usage_day (workspace_id, day, until, key_id, model, provider, ${sumNames.join(', ')})
  SELECT workspace_id, $2::timestamptz, $3::timestamptz, key_id, model, provider,
    ${sumNames.map((name) => `sum(${name})`).join(', ')}
  FROM moved GROUP BY workspace_id, key_id, model, provider ORDER BY workspace_id, key_id, model, provider
  ON CONFLICT (workspace_id, day, key_id, model, provider) DO UPDATE SET
    until = greatest(usage_day.until, excluded.until),
    ${sumNames.map((name) => `${name} = usage_day.${name} + excluded.${name}`).join(', ')}`;

/** One process of a fleet folds at a time: who does not get the row leaves it to who has it. */
const takeTurn = 'SELECT at FROM seen_time WHERE one = 1 FOR UPDATE SKIP LOCKED';

/**
 * Folds what is old enough, a day of a workspace in each transaction, so that settlement never waits for long.
 * Age is measured by the last believed time (data/seen-time): a clock that runs ahead folds nothing too early.
 * @param nowMs clock of this process; the earlier of it and the believed time counts.
 * @param options `mostDays`: after so many it returns; `stopped`: asked before each.
 * @returns how many days were folded.
 * @throws Error of the database.
 */
export async function foldUsage(
  pool: Pool,
  nowMs: number,
  { mostDays = 10_000, stopped = () => false }: { mostDays?: number; stopped?: () => boolean } = {},
): Promise<number> {
  const due = await pool.query<{ id: string; time_zone: string; oldest: Date | null }>(findDue);
  let folded = 0;
  for (const { id, time_zone: stored, oldest } of due.rows) {
    const zone = knownZone(stored);
    for (let at = oldest?.getTime() ?? nowMs; at < foldedBefore(nowMs, zone); ) {
      if (folded >= mostDays || stopped()) return folded;
      const day = { startMs: dayStart(at, zone), endMs: daysLater(at, zone, 1) };
      const done = await foldOne(pool, id, day, nowMs, zone);
      if (!done) return folded;
      folded += 1;
      const next = await pool.query<{ oldest: Date | null }>(
        'SELECT min(quarter) AS oldest FROM usage_quarter WHERE workspace_id = $1::uuid',
        [id],
      );
      at = Math.max(next.rows[0]?.oldest?.getTime() ?? nowMs, day.endMs);
    }
  }
  return folded;
}

/** @returns false when another process has the turn, or the believed time does not allow it yet. */
async function foldOne(
  pool: Pool,
  workspaceId: string,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
  nowMs: number,
  zone: string,
): Promise<boolean> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN; SET LOCAL lock_timeout = '3s'");
    const allowed = await mayFold(client, nowMs, endMs, zone);
    if (allowed)
      await client.query(foldDay, [
        workspaceId,
        new Date(startMs).toISOString(),
        new Date(endMs).toISOString(),
      ]);
    await client.query('COMMIT');
    client.release();
    return allowed;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function mayFold(client: PoolClient, nowMs: number, endMs: number, zone: string): Promise<boolean> {
  const { rows } = await client.query<{ at: Date }>(takeTurn);
  const seen = rows[0]?.at.getTime();
  return seen !== undefined && endMs <= foldedBefore(Math.min(nowMs, seen), zone);
}

export interface FoldCare {
  /** Ends the schedule, and a round after the day that it is at. */
  stop(): Promise<void>;
}

/** Folds old usage every hour, from an hour after the start on. A failed round is reported and not fatal. */
export function keepFolded(pool: Pool, clock: Clock, report: (error: Error) => void): FoldCare {
  let running: Promise<unknown> = Promise.resolve();
  let stopped = false;
  const timer = setInterval(() => {
    running = running.then(() => foldUsage(pool, clock.now(), { stopped: () => stopped })).catch(report);
  }, roundMs);
  timer.unref();
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}

/** A range that reaches into days widened to whole ones. */
export function widenedToDays(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  zone: string,
  nowMs: number,
): { fromMs: number; toMs: number } {
  const folded = foldedBefore(nowMs, zone);
  return {
    fromMs: fromMs < folded ? dayStart(fromMs, knownZone(zone)) : fromMs,
    toMs: toMs < folded ? dayCeiling(toMs, knownZone(zone)) : toMs,
  };
}
