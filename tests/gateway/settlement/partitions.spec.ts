import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dropPartitions, keepPartitions, makePartitions } from '#lib/control/retention/partitions';
import { settle } from '#lib/gateway/settlement/settle';
import { idFloor } from '#lib/platform/ids';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { callOf, closeOf, createCustomer, newId } from '#tests/support/settlement';

let database: TestDatabase;
let pool: Pool;
/** A Wednesday. */
const nowMs = Date.UTC(2026, 10, 18, 12);
const dayMs = 24 * 3_600_000;

beforeAll(async () => {
  database = await createDatabase();
  pool = new Pool({ connectionString: database.url });
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** A clock that stands still. */
const clockAt = (ms: number) => ({ now: () => ms, mono: () => 0 });

async function partitions(): Promise<string[]> {
  const found = await pool.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'call'::regclass ORDER BY 1`,
  );
  return found.rows.map((row) => row.name);
}

/** A call whose id was made at that moment. */
async function log(atMs: number): Promise<string> {
  const id = idFloor(atMs).replace('-0000-0000-', '-7abc-8abc-').slice(0, -12) + newId().slice(-12);
  await settle(pool, newId(), [closeOf(callOf(await createCustomer(pool), { id, atMs }))]);
  return id;
}

async function placeOf(id: string): Promise<string[]> {
  const found = await pool.query<{ place: string }>(
    'SELECT tableoid::regclass::text AS place FROM call WHERE id = $1',
    [id],
  );
  return found.rows.map((row) => row.place);
}

describe('the weeks of the call log', () => {
  it('are made from the last one to four ahead, by many processes at once, and move what came before them', async () => {
    const early = await log(nowMs - dayMs);
    expect(await placeOf(early)).toEqual(['call_default']);
    await Promise.all(Array.from({ length: 4 }, () => makePartitions(pool, nowMs)));
    const weeks = ['20261109', '20261116', '20261123', '20261130', '20261207', '20261214'];
    expect(await partitions()).toEqual(['call_default', ...weeks.map((week) => `call_w${week}`)]);
    expect(await placeOf(early)).toEqual(['call_w20261116']);
  });

  it('hold the first and the last id of their week, and the default one what fits no week', async () => {
    const monday = Date.UTC(2026, 10, 23);
    expect(await placeOf(await log(monday - 1))).toEqual(['call_w20261116']);
    expect(await placeOf(await log(monday))).toEqual(['call_w20261123']);
    expect(await placeOf(await log(Date.UTC(2099, 0, 1)))).toEqual(['call_default']);
  });

  it('let a look-up by id touch one partition', async () => {
    const plan = await pool.query<{ 'QUERY PLAN': string }>('EXPLAIN SELECT * FROM call WHERE id = $1', [
      await log(nowMs),
    ]);
    const scans = plan.rows
      .filter((row) => row['QUERY PLAN'].includes('Scan'))
      .map((row) => row['QUERY PLAN']);
    expect(scans.join()).toContain('call_w20261116');
    expect(scans.join()).not.toContain('call_default');
  });

  it('are dropped when all of them is older than the retention', async () => {
    const [old, kept] = [await log(nowMs - 5 * dayMs), await log(nowMs)];
    expect(await placeOf(old)).toEqual(['call_w20261109']);
    await dropPartitions(pool, nowMs + 6 * dayMs, 7);
    expect(await placeOf(old)).toEqual([]);
    expect(await placeOf(kept)).toEqual(['call_w20261116']);
    expect(await partitions()).not.toContain('call_w20261109');
  });

  it('are kept at start; a failure is reported and stops nothing', async () => {
    const reports: Error[] = [];
    const care = await keepPartitions(pool, {
      clock: clockAt(nowMs),
      retentionDays: 90,
      report: (error) => reports.push(error),
    });
    await care.firstRound;
    await care.stop();
    expect(reports).toEqual([]);
    expect(await partitions()).toContain('call_w20261109');
    const away = new Pool({ connectionString: 'postgresql://nobody@127.0.0.1:9/none' });
    const failed = await keepPartitions(away, {
      clock: clockAt(nowMs),
      retentionDays: 90,
      report: (error) => reports.push(error),
    });
    await failed.firstRound;
    await failed.stop();
    expect(reports).toHaveLength(1);
    await away.end();
  });

  describe('at a start with a wrong clock', () => {
    // Long ago: the clock of the database, which is right, must not be what saves the log.
    const rightMs = nowMs - 400 * dayMs;
    const day = (days: number) => rightMs + days * dayMs;

    /** Starts of processes, one after the other. @returns what was reported. */
    async function start(...clocks: readonly number[]): Promise<string[]> {
      const reports: string[] = [];
      for (const ms of clocks) {
        const report = (error: Error) => reports.push(error.message);
        const care = await keepPartitions(pool, { clock: clockAt(ms), retentionDays: 90, report });
        await care.firstRound;
        await care.stop();
      }
      return reports;
    }
    /** An installation with a log of its own in which nobody has looked at the clock yet. */
    async function installed(...atMs: readonly number[]): Promise<string[]> {
      await pool.query('DELETE FROM seen_time');
      await pool.query('DELETE FROM call');
      return Promise.all(atMs.map(log));
    }
    const kept = async (ids: readonly string[]) => {
      const places = await Promise.all(ids.map(placeOf));
      return places.map((place) => place.length > 0);
    };

    it('keeps the log when it is ahead, once or repeatedly, and drops what is old when it is right', async () => {
      const ids = await installed(day(-95), day(-50), day(-1));
      expect(await start(rightMs)).toEqual([]);
      expect(await kept(ids)).toEqual([false, true, true]);
      const reports = await start(day(120), day(121), day(5_000));
      expect(await kept(ids)).toEqual([false, true, true]);
      expect(reports).toHaveLength(3);
      expect(reports[0]).toContain(
        `more than a day ahead of the last known time, ${new Date(rightMs).toISOString()}`,
      );
      expect(await start(day(0.5))).toEqual([]);
      expect(await kept(ids)).toEqual([false, true, true]);
    });

    it('keeps the log of an installation that never looked at the clock before', async () => {
      const ids = await installed(day(-80), day(-1));
      await start(day(120));
      expect(await kept(ids)).toEqual([true, true]);
    });

    it('keeps the log when the first clock of all was ahead, the next one right, and a later one ahead again', async () => {
      await installed();
      await start(day(120));
      const ids = await Promise.all([day(0), day(1)].map(log));
      await start(day(1), day(119));
      expect(await kept(ids)).toEqual([true, true]);
    });

    it('keeps the log when it is behind, and when it is right after that', async () => {
      const ids = await installed(day(-80), day(-1));
      await start(rightMs, day(-300), rightMs, day(1));
      expect(await kept(ids)).toEqual([true, true]);
    });
  });
});
