import { setTimeout as pause } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { dayCeiling, dayStart, daysLater, knownZone, monthsEarlier } from '#lib/core/charts/zone';
import { ownModel } from '#lib/gateway/settlement/pure/own-answer';
import { quarterMs } from '#lib/gateway/settlement/pure/quarter';
import { sumNames } from '#lib/gateway/settlement/usage/columns';
import type { Clock } from '#lib/platform/clock';
import { transact } from '#lib/platform/data/transaction/transaction';

/** Quarters of an hour are kept for this many whole months; what is older is kept by days. */
const monthsOfQuarters = 13;
/** Quarters are counted in their day this long after their end, ms: most of their calls have ended by then. */
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

/** Quarters that end up to here are counted in their day. */
function countedBefore(nowMs: number): number {
  return Math.floor((nowMs - settlesMs) / quarterMs) * quarterMs;
}

/**
 * The first moment from $2 on whose day has something to do: quarters that no day counts, a day that is due, one of
 * another time zone than $4, or quarters that have become old ($3).
 */
const nextDue = `
  SELECT least(
    (SELECT min(quarter) FROM usage_quarter WHERE workspace_id = $1::uuid AND quarter >= $2::timestamptz),
    (SELECT min(day) FROM usage_span WHERE workspace_id = $1::uuid AND day >= $2::timestamptz
       AND (state = 'due' OR state = 'summed' AND zone <> $4)),
    (SELECT min(quarter) FROM usage_quarter_counted
     WHERE workspace_id = $1::uuid AND quarter >= $2::timestamptz AND quarter < $3::timestamptz)) AS at`;

/** One process of a fleet does it at a time: a process that does not get the row leaves it to the one that has it. */
const takeTurn = 'SELECT at FROM seen_time WHERE one = 1 FOR UPDATE SKIP LOCKED';

/**
 * Counts quarters that are over in sums of their day, and lets them go when they are old enough: a day of a workspace in
 * each transaction, so that settlement never waits for long. Killed, repeated or run twice at once, it counts each once.
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
    if (atMs >= countedBefore(nowMs)) return null;
    const turn = await client.query<{ at: Date }>(takeTurn);
    const seenMs = turn.rows[0]?.at.getTime();
    if (seenMs === undefined) return 'not ours';
    const believedMs = Math.min(nowMs, seenMs);
    const beforeMs = countedBefore(believedMs);
    if (atMs >= beforeMs || !(await isStill(client, workspace))) return null;
    await changeZone(client, id, zone);
    const day = { startMs: dayStart(atMs, zone), endMs: daysLater(atMs, zone, 1) };
    return sumDay(client, id, day, { zone, beforeMs, fold: day.endMs <= foldedBefore(believedMs, zone) });
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

/** Counts quarters and folds days soon after the start and then every hour. A failed round is reported and not fatal. */
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
const summed = sumNames.map((name) => `sum(${name}) AS ${name}`).join(', ');
const added = (table: string) =>
  sumNames.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ');
const quarters = (table: string) =>
  `FROM ${table} WHERE workspace_id = $1::uuid AND quarter >= $2::timestamptz AND quarter < $3::timestamptz`;

/** Adds the rows of a source to a table of sums, those of one place together. @param by its primary key. */
const addTo = (table: string, by: string, source: string) => `
  INSERT INTO ${table} (${by}, ${sums}) SELECT ${by}, ${summed} FROM ${source} GROUP BY ${by} ORDER BY ${by}
  ON CONFLICT (${by}) DO UPDATE SET ${added(table)}`;

/**
 * Counts quarters in the sums of their day, and in those of all keys, all in one statement: each quarter leaves
 * `usage_quarter` when it is counted, so that run again, or beside settlement, it counts each once. What a late journal
 * adds is a new quarter.
 * @param whole the quarters that were counted before are counted too: those of a day that is summed again.
 */
const countDay = (whole: boolean) => `
  WITH moved AS (
    DELETE ${quarters('usage_quarter')} RETURNING *
  ), counted AS (${addTo('usage_quarter_counted', place, 'moved')}
  ), quarter_totals AS (${addTo(
    'usage_quarter_total',
    'workspace_id, quarter, model, provider',
    whole
      ? `(SELECT ${place}, ${sums} FROM moved UNION ALL SELECT ${place}, ${sums} ${quarters('usage_quarter_counted')}) AS each`
      : 'moved',
  )}
  ), part AS MATERIALIZED (
    SELECT workspace_id, $2::timestamptz AS day, key_id, model, provider, ${summed}
    FROM (
      SELECT workspace_id, key_id, model, provider, ${sums} FROM moved
      ${whole ? `UNION ALL SELECT workspace_id, key_id, model, provider, ${sums} ${quarters('usage_quarter_counted')}` : ''}
    ) AS each GROUP BY workspace_id, key_id, model, provider
  ), day_totals AS (${addTo('usage_day_total', 'workspace_id, day, model, provider', 'part')}
  ), of_keys AS (${addTo('usage_day_key', 'workspace_id, day, key_id', `part WHERE model <> '${ownModel}'`)}
  )
  INSERT INTO usage_day (workspace_id, day, until, key_id, model, provider, ${sums})
  SELECT workspace_id, day, $3::timestamptz, key_id, model, provider, ${sums} FROM part
  ORDER BY workspace_id, key_id, model, provider
  ON CONFLICT (workspace_id, day, key_id, model, provider) DO UPDATE SET
    until = greatest(usage_day.until, excluded.until), ${added('usage_day')}`;

const ofDay = 'WHERE workspace_id = $1::uuid AND day = $2::timestamptz';
/** The tables of sums by day. */
const daySums = ['usage_day', 'usage_day_total', 'usage_day_key'];

const mark = `
  INSERT INTO usage_span AS s (workspace_id, day, until, zone, state)
  VALUES ($1::uuid, $2::timestamptz, $3::timestamptz, $4, $5)
  ON CONFLICT (workspace_id, day) DO UPDATE SET
    until = greatest(s.until, excluded.until), zone = excluded.zone, state = excluded.state`;

/**
 * Counts what no day counts yet of a day.
 * @param client in a transaction whose turn it is.
 * @param how `beforeMs`: quarters up to there are counted, so that a day that is not over has a part of its sums;
 * `fold`: whether its quarters go then, because they are 13 months old.
 * @returns the day up to where it is counted.
 * @throws Error of the database.
 */
async function sumDay(
  client: PoolClient,
  workspaceId: string,
  { startMs, endMs }: Day,
  { zone, beforeMs, fold }: { readonly zone: string; readonly beforeMs: number; readonly fold: boolean },
): Promise<Day> {
  const day = [workspaceId, iso(startMs)];
  const found = await client.query<{ state: string; until: Date }>(
    `SELECT state, until FROM usage_span ${ofDay}`,
    day,
  );
  const [span] = found.rows;
  // All quarters that are counted already are in the day, also if the clock was set back since.
  const untilMs = Math.min(endMs, Math.max(beforeMs, span?.until.getTime() ?? 0));
  const range = [...day, iso(untilMs)];
  if (span?.state === 'due') {
    for (const table of daySums) await client.query(`DELETE FROM ${table} ${ofDay}`, day);
    await client.query(`DELETE ${quarters('usage_quarter_total')}`, range);
  }
  await client.query(countDay(span?.state !== 'summed'), range);
  const folded = fold || span?.state === 'folded';
  if (folded) {
    for (const table of ['usage_quarter_counted', 'usage_quarter_total']) {
      await client.query(`DELETE ${quarters(table)}`, range);
    }
  }
  await client.query(mark, [...range, zone, folded ? 'folded' : 'summed']);
  return { startMs, endMs: untilMs };
}

/**
 * Forgets the days of another time zone and notes those that take their place: until they are summed, their quarters are
 * read one by one. Days whose quarters are gone stay as they are.
 * @param client in a transaction whose turn it is.
 * @returns whether there were any.
 * @throws Error of the database.
 */
async function changeZone(client: PoolClient, workspaceId: string, zone: string): Promise<boolean> {
  const { rows } = await client.query<{ day: Date; until: Date }>(
    `WITH gone AS (
       DELETE FROM usage_span WHERE workspace_id = $1::uuid AND state <> 'folded' AND zone <> $2 RETURNING *
     ), ${daySums
       .map(
         (table) => `${table}_gone AS (
       DELETE FROM ${table} AS d USING gone AS g WHERE d.workspace_id = g.workspace_id AND d.day = g.day
     )`,
       )
       .join(', ')}
     SELECT day, until FROM gone ORDER BY day`,
    [workspaceId, zone],
  );
  const days = new Map<number, number>();
  const lastMs = Math.max(...rows.map(({ until }) => until.getTime()));
  for (const { day, until } of rows)
    for (let at = dayStart(day.getTime(), zone); at < until.getTime(); at = daysLater(at, zone, 1))
      days.set(at, Math.min(daysLater(at, zone, 1), lastMs));
  await client.query(
    `INSERT INTO usage_span (workspace_id, day, until, zone, state)
     SELECT $1::uuid, day, until, $2, 'due' FROM unnest($3::timestamptz[], $4::timestamptz[]) AS r (day, until)
     ON CONFLICT (workspace_id, day) DO NOTHING`,
    [workspaceId, zone, [...days.keys()].map(iso), [...days.values()].map(iso)],
  );
  return rows.length > 0;
}
