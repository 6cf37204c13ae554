import type { Pool, PoolClient } from 'pg';
import { closeCalls, deleteJobs } from '#lib/billing/close';
import type { Clock } from '#lib/clock';
import { lookAtClock, type SeenTime } from '#lib/data/seen-time';
import { idFloor } from '#lib/ids';

const weekMs = 7 * 24 * 3_600_000;
const dayMs = 24 * 3_600_000;
const hourMs = 3_600_000;
/** A Monday, 00:00 UTC. */
const firstMondayMs = Date.UTC(1970, 0, 5);
const weeksBehind = 1;
const weeksAhead = 4;
const defaultRetentionDays = 90;
/** Sliding caps look back 30 days (decisions §7); older minutes are of no use. */
const spendDays = 32;
/** How long state kept at a provider can be referred to (decisions §11). */
const resourceDays = 30;

export interface PartitionCare {
  stop(): void;
}

interface CareOptions {
  readonly clock: Clock;
  /** Of the call log, default 90 (decisions §13). */
  readonly retentionDays?: number;
  report(error: Error): void;
}

/**
 * Creates the weekly partitions around now and drops those older than the retention: once before it returns, then
 * every hour. Age is measured by the last believed time (`seen-time`), so that a clock that runs ahead does not delete
 * the log. A failed round is reported and not fatal: rows without a week go to the default partition.
 */
export async function keepPartitions(pool: Pool, options: CareOptions): Promise<PartitionCare> {
  const { clock, report, retentionDays = defaultRetentionDays } = options;
  let lookedMono = clock.mono();
  let last: SeenTime | null = null;
  let told = false;
  const round = async () => {
    try {
      await makePartitions(pool, clock.now());
      const mono = clock.mono();
      const { allowedMs, believed, seen } = await lookAtClock(pool, clock.now(), last, mono - lookedMono);
      lookedMono = mono;
      last = seen;
      await dropPartitions(pool, allowedMs, retentionDays);
      if (!believed && !told) report(leapt(allowedMs));
      told = !believed;
    } catch (error) {
      report(error instanceof Error ? error : new Error(String(error)));
    }
  };
  await round();
  const timer = setInterval(round, hourMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

function leapt(seenMs: number): Error {
  return new Error(
    `the clock is more than a day ahead of ${new Date(seenMs).toISOString()}, the last time that was seen: ` +
      'correct it if it is wrong; otherwise retention accepts the new time after a day, and goes by the old one until then',
  );
}

/** Makes the weekly partitions of `call` from the last week to four weeks ahead. */
export async function makePartitions(pool: Pool, nowMs: number): Promise<void> {
  for (let week = -weeksBehind; week <= weeksAhead; week++) {
    const startMs = weekStart(nowMs) + week * weekMs;
    const name = nameOf(startMs);
    if (await exists(pool, name)) continue;
    await change(pool, (client) => makePartition(client, name, startMs));
  }
}

/**
 * Drops weeks that ended before the retention, and older rows of the default partition; also minutes of spend that
 * no cap covers, expired resources, and settled jobs and adjustments of dropped calls.
 */
export async function dropPartitions(pool: Pool, nowMs: number, retentionDays: number): Promise<void> {
  const keepFromMs = weekStart(nowMs - retentionDays * dayMs);
  const found = await pool.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'call'::regclass`,
  );
  for (const { name } of found.rows) {
    const startMs = startOf(name);
    if (startMs === null || startMs >= keepFromMs) continue;
    await change(pool, async (client) => {
      await client.query(`LOCK TABLE "${name}" IN SHARE MODE`);
      await closeCalls(client, {
        workspaceId: null,
        fromId: idFloor(startMs),
        toId: idFloor(startMs + weekMs),
        ids: null,
      });
      await client.query(`DROP TABLE IF EXISTS "${name}"`);
    });
  }
  await change(pool, async (client) => {
    await client.query('LOCK TABLE call_default IN SHARE MODE');
    await closeCalls(client, { workspaceId: null, fromId: idFloor(0), toId: idFloor(keepFromMs), ids: null });
    await client.query('DELETE FROM call_default WHERE id < $1::uuid', [idFloor(keepFromMs)]);
  });
  for (let more = true; more; )
    await change(pool, async (client) => {
      more = await deleteJobs(client, idFloor(keepFromMs), 5000);
    });
  const daysAgo = (days: number) => new Date(nowMs - days * dayMs).toISOString();
  await pool.query('DELETE FROM spend_minute WHERE minute < $1::timestamptz', [daysAgo(spendDays)]);
  await pool.query('DELETE FROM resource WHERE created_at < $1::timestamptz', [daysAgo(resourceDays)]);
  await pool.query('DELETE FROM adjustment WHERE call_id < $1::uuid', [idFloor(keepFromMs)]);
}

/** Rows of that week that went to the default partition move into the new one before it is attached. */
async function makePartition(client: PoolClient, name: string, startMs: number): Promise<void> {
  if (await exists(client, name)) return;
  const [from, to] = [idFloor(startMs), idFloor(startMs + weekMs)];
  await client.query('LOCK TABLE call_default IN ACCESS EXCLUSIVE MODE');
  await client.query(`CREATE TABLE "${name}" (LIKE call INCLUDING ALL)`);
  await client.query(
    `WITH moved AS (DELETE FROM call_default WHERE id >= '${from}' AND id < '${to}' RETURNING *)
     INSERT INTO "${name}" SELECT * FROM moved`,
  );
  await client.query(`ALTER TABLE call ATTACH PARTITION "${name}" FOR VALUES FROM ('${from}') TO ('${to}')`);
}

/**
 * One change of the table's shape in a short transaction of its own; processes take turns by the lock on
 * the parent. A lock that does not come within 3 s is given up, so that calls are not kept waiting.
 */
async function change(pool: Pool, work: (client: PoolClient) => Promise<unknown>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN; SET LOCAL lock_timeout = '3s'");
    await client.query('LOCK TABLE ONLY call IN SHARE UPDATE EXCLUSIVE MODE');
    await work(client);
    await client.query('COMMIT');
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function exists(sql: Pool | PoolClient, name: string): Promise<boolean> {
  const found = await sql.query<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [name]);
  return found.rows[0]?.found === true;
}

function weekStart(ms: number): number {
  return firstMondayMs + Math.floor((ms - firstMondayMs) / weekMs) * weekMs;
}

/** "call_w20261116": the week that begins on that Monday. */
function nameOf(startMs: number): string {
  return `call_w${new Date(startMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

function startOf(name: string): number | null {
  const match = /^call_w(\d{4})(\d\d)(\d\d)$/.exec(name);
  return match ? Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3])) : null;
}
