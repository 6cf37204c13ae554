import { setTimeout as pause } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { dayCeiling, dayStart, daysLater, knownZone, monthsEarlier } from '#lib/core/charts/zone';
import { sumNames } from '#lib/gateway/settlement/usage/columns';
import type { Clock } from '#lib/platform/clock';
import { transact } from '#lib/platform/data/transaction/transaction';

/** Quarters of an hour are kept for this many whole months; what is older is kept by days. */
const monthsOfQuarters = 13;
/** A day is counted this long after its end, ms: most of its calls have ended by then. */
const settlesMs = 2 * 3_600_000;
const roundMs = 3_600_000;
const firstRoundMs = 60_000;
const limits = { lockMs: 3_000, statementMs: 60_000 };

/**
 * Usage before this moment is kept by days of the workspace's time zone: the start of a day.
 * @param nowMs ms since the epoch.
 */
export function foldedBefore(nowMs: number, zone: string): number {
  return monthsEarlier(nowMs, knownZone(zone), monthsOfQuarters);
}

/** Days that end up to here are counted by day. */
function madeBefore(nowMs: number, zone: string): number {
  return dayStart(nowMs - settlesMs, zone);
}

/**
 * The first moment from $2 on whose day has something to do: quarters that no day counts, a day that is due, one of
 * another time zone than $4, or quarters that have become old ($3).
 */
const nextDue = `
  SELECT least(
    (SELECT min(quarter) FROM usage_quarter WHERE workspace_id = $1::uuid AND quarter >= $2::timestamptz),
    (SELECT min(day) FROM usage_span WHERE workspace_id = $1::uuid AND day >= $2::timestamptz
       AND (state = 'due' OR state = 'made' AND zone <> $4)),
    (SELECT min(quarter) FROM usage_quarter_counted
     WHERE workspace_id = $1::uuid AND quarter >= $2::timestamptz AND quarter < $3::timestamptz)) AS at`;

/** One process of a fleet does it at a time: a process that does not get the row leaves it to the one that has it. */
const takeTurn = 'SELECT at FROM seen_time WHERE one = 1 FOR UPDATE SKIP LOCKED';

/**
 * Counts days that are over in rows of their own, and lets quarters go that are old enough: a day of a workspace in each
 * transaction, so that settlement never waits for long. Killed, repeated or run twice at once, it counts each once.
 * Age is measured by the last believed time (data/seen-time): a clock that runs ahead folds nothing too early.
 * @param nowMs clock of this process; the earlier of it and the believed time counts.
 * @param options `mostDays`: after so many it returns; `stopped`: asked before each; `rests`: as long as each took.
 * @returns how many days were counted or folded.
 * @throws Error of the database.
 */
export async function foldUsage(
  pool: Pool,
  nowMs: number,
  {
    mostDays = 10_000,
    stopped = () => false,
    rests = false,
  }: { mostDays?: number; stopped?: () => boolean; rests?: boolean } = {},
): Promise<number> {
  const workspaces = await pool.query<{ id: string; time_zone: string }>(
    'SELECT id::text AS id, time_zone FROM workspace ORDER BY id',
  );
  let days = 0;
  for (const { id, time_zone: stored } of workspaces.rows) {
    const zone = knownZone(stored);
    for (let fromMs = 0; ; ) {
      if (days >= mostDays || stopped()) return days;
      const startedMs = performance.now();
      const done = await doNext(pool, { id, stored, zone }, fromMs, nowMs);
      if (done === 'not ours') return days;
      if (done === null) break;
      fromMs = done.endMs;
      days += 1;
      if (rests) await pause(performance.now() - startedMs);
    }
  }
  return days;
}

/** A workspace with the time zone that its days are made in. */
interface Zoned {
  readonly id: string;
  readonly stored: string;
  readonly zone: string;
}

/** @returns the day that was done; null: none is due from there on; "not ours": another process has the turn. */
function doNext(
  pool: Pool,
  workspace: Zoned,
  fromMs: number,
  nowMs: number,
): Promise<Day | null | 'not ours'> {
  return transact(pool, limits, async (client) => {
    const { id, zone } = workspace;
    const found = await client.query<{ at: Date | null }>(nextDue, [
      id,
      iso(fromMs),
      iso(foldedBefore(nowMs, zone)),
      zone,
    ]);
    const atMs = found.rows[0]?.at?.getTime();
    if (atMs === undefined) return null;
    const day = { startMs: dayStart(atMs, zone), endMs: daysLater(atMs, zone, 1) };
    if (day.endMs > madeBefore(nowMs, zone)) return null;
    const turn = await client.query<{ at: Date }>(takeTurn);
    const seenMs = turn.rows[0]?.at.getTime();
    if (seenMs === undefined) return 'not ours';
    const believedMs = Math.min(nowMs, seenMs);
    if (day.endMs > madeBefore(believedMs, zone) || !(await isStill(client, workspace))) return null;
    await changeZone(client, id, zone);
    await makeDay(client, id, day, { zone, fold: day.endMs <= foldedBefore(believedMs, zone) });
    return day;
  });
}

/** Whether the workspace is still there, with the zone of its days: those of two zones would overlap. */
async function isStill(client: PoolClient, { id, stored }: Zoned): Promise<boolean> {
  const { rowCount } = await client.query(
    'SELECT FROM workspace WHERE id = $1::uuid AND time_zone = $2 FOR KEY SHARE',
    [id, stored],
  );
  return rowCount === 1;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

interface FoldCare {
  /** Ends the schedule, and a round after the day that it is at. */
  stop(): Promise<void>;
}

/** Counts and folds days soon after the start and then every hour. A failed round is reported and not fatal. */
export function keepFolded(pool: Pool, clock: Clock, report: (error: Error) => void): FoldCare {
  let running: Promise<unknown> = Promise.resolve();
  let stopped = false;
  const round = () => {
    running = running
      .then(() => foldUsage(pool, clock.now(), { stopped: () => stopped, rests: true }))
      .then((days) => (days > 0 ? pool.query('VACUUM usage_quarter') : null))
      .catch(report);
  };
  const timers = [setTimeout(round, firstRoundMs), setInterval(round, roundMs)];
  for (const timer of timers) timer.unref();
  return {
    async stop() {
      stopped = true;
      for (const timer of timers) clearInterval(timer);
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

/** A day of a workspace in its time zone, [startMs, endMs), ms since the epoch. */
interface Day {
  readonly startMs: number;
  readonly endMs: number;
}

const place = 'workspace_id, quarter, key_id, model, provider';
const sums = sumNames.join(', ');
const added = (table: string) =>
  sumNames.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ');
const quarters = (table: string) =>
  `FROM ${table} WHERE workspace_id = $1::uuid AND quarter >= $2::timestamptz AND quarter < $3::timestamptz`;

/**
 * Counts a day's quarters in its row of the day, all in one statement: each quarter leaves `usage_quarter` when a day
 * counts it, so that run again, or beside settlement, it counts each once. What a late journal adds is a new quarter.
 * @param whole also the quarters that were counted by a day before: those of a day that is made again.
 */
const countDay = (whole: boolean) => `
  WITH moved AS (
    DELETE ${quarters('usage_quarter')} RETURNING *
  ), counted AS (
    INSERT INTO usage_quarter_counted (${place}, ${sums}) SELECT ${place}, ${sums} FROM moved ORDER BY ${place}
    ON CONFLICT (${place}) DO UPDATE SET ${added('usage_quarter_counted')}
  )
  INSERT INTO usage_day (workspace_id, day, until, key_id, model, provider, ${sums})
  SELECT workspace_id, $2::timestamptz, $3::timestamptz, key_id, model, provider,
    ${sumNames.map((name) => `sum(${name})`).join(', ')}
  FROM (
    SELECT workspace_id, key_id, model, provider, ${sums} FROM moved
    ${whole ? `UNION ALL SELECT workspace_id, key_id, model, provider, ${sums} ${quarters('usage_quarter_counted')}` : ''}
  ) AS part GROUP BY workspace_id, key_id, model, provider ORDER BY workspace_id, key_id, model, provider
  ON CONFLICT (workspace_id, day, key_id, model, provider) DO UPDATE SET
    until = greatest(usage_day.until, excluded.until), ${added('usage_day')}`;

const mark = `
  INSERT INTO usage_span AS s (workspace_id, day, until, zone, state)
  VALUES ($1::uuid, $2::timestamptz, $3::timestamptz, $4, $5)
  ON CONFLICT (workspace_id, day) DO UPDATE SET
    until = greatest(s.until, excluded.until), zone = excluded.zone, state = excluded.state`;

/**
 * Counts what no day counts yet of a day that is over.
 * @param client in a transaction whose turn it is.
 * @param fold whether its quarters go then, because they are 13 months old.
 * @throws Error of the database.
 */
async function makeDay(
  client: PoolClient,
  workspaceId: string,
  { startMs, endMs }: Day,
  { zone, fold }: { readonly zone: string; readonly fold: boolean },
): Promise<void> {
  const range = [workspaceId, new Date(startMs).toISOString(), new Date(endMs).toISOString()];
  const found = await client.query<{ state: string }>(
    'SELECT state FROM usage_span WHERE workspace_id = $1::uuid AND day = $2::timestamptz',
    range.slice(0, 2),
  );
  const state = found.rows[0]?.state;
  await client.query(countDay(state !== 'made'), range);
  const folded = fold || state === 'folded';
  if (folded) await client.query(`DELETE ${quarters('usage_quarter_counted')}`, range);
  await client.query(mark, [...range, zone, folded ? 'folded' : 'made']);
}

/**
 * Forgets the days of another time zone and notes those that take their place: until they are made, their quarters are
 * read one by one. Days whose quarters are gone stay as they are.
 * @param client in a transaction whose turn it is.
 * @returns whether there were any.
 * @throws Error of the database.
 */
async function changeZone(client: PoolClient, workspaceId: string, zone: string): Promise<boolean> {
  const { rows } = await client.query<{ day: Date; until: Date }>(
    `WITH gone AS (
       DELETE FROM usage_span WHERE workspace_id = $1::uuid AND state <> 'folded' AND zone <> $2 RETURNING *
     ), rows AS (
       DELETE FROM usage_day AS d USING gone AS g WHERE d.workspace_id = g.workspace_id AND d.day = g.day
     )
     SELECT day, until FROM gone ORDER BY day`,
    [workspaceId, zone],
  );
  const days = new Map<number, number>();
  for (const { day, until } of rows)
    for (let at = dayStart(day.getTime(), zone); at < until.getTime(); at = daysLater(at, zone, 1))
      days.set(at, daysLater(at, zone, 1));
  await client.query(
    `INSERT INTO usage_span (workspace_id, day, until, zone, state)
     SELECT $1::uuid, day, until, $2, 'due' FROM unnest($3::timestamptz[], $4::timestamptz[]) AS r (day, until)
     ON CONFLICT (workspace_id, day) DO NOTHING`,
    [workspaceId, zone, [...days.keys()].map(iso), [...days.values()].map(iso)],
  );
  return rows.length > 0;
}
