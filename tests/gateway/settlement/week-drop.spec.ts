import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { closeCalls } from '#lib/control/billing/close';
import { dropWeek, emptyDefault, listWeeks, makeWeek } from '#lib/control/retention/change-weeks';
import { TablesInUse } from '#lib/control/retention/gap';
import { weekAt, weekMs, weekStart } from '#lib/control/retention/weeks';
import { settle } from '#lib/gateway/settlement/settle';
import { idFloor } from '#lib/platform/ids';
import { bothDatabases, onPostgres, type Stage } from '#tests/gateway/settlement/both-databases';
import { callOf, closeOf, createCustomer, newId } from '#tests/support/settlement';

const oldWeek = weekAt(weekStart(Date.UTC(2026, 5, 3)));
const nextWeek = weekAt(oldWeek.startMs + weekMs);
const nothing: typeof closeCalls = async () => {};

/** Settles one call of that moment. @returns its id. */
async function log(pool: Pool, atMs: number): Promise<string> {
  const id = idFloor(atMs).replace('-0000-0000-', '-7abc-8abc-').slice(0, -12) + newId().slice(-12);
  await settle(pool, newId(), [closeOf(callOf(await createCustomer(pool), { id, atMs }))]);
  return id;
}

async function placesOf(pool: Pool, id: string): Promise<string[]> {
  const found = await pool.query<{ place: string }>(
    'SELECT tableoid::regclass::text AS place FROM call WHERE id = $1',
    [id],
  );
  return found.rows.map((row) => row.place);
}

describe.each(bothDatabases)('a week of the log on $name', ({ open }) => {
  let stage: Stage;
  let pool: Pool;
  beforeAll(async () => {
    stage = await open();
    pool = stage.db.pool;
  });
  afterAll(() => stage.close());

  it('is made for calls that came without one, and the default partition is empty again', async () => {
    const early = await log(pool, oldWeek.startMs + 1000);
    const late = await log(pool, Date.UTC(2099, 0, 1));
    expect(await placesOf(pool, early)).toEqual(['call_default']);
    await emptyDefault(pool);
    expect(await placesOf(pool, early)).toEqual([oldWeek.name]);
    expect(await placesOf(pool, late)).toEqual(['call_w20981229']);
    expect((await pool.query('SELECT 1 FROM call_default')).rows).toEqual([]);
    await makeWeek(pool, nextWeek);
    expect((await listWeeks(pool)).map((week) => week.name)).toEqual([
      oldWeek.name,
      nextWeek.name,
      'call_w20981229',
    ]);
  });

  it('stays with all its calls when what comes before its end fails', async () => {
    const failing: typeof closeCalls = async (client) => {
      await client.query("INSERT INTO former_slug VALUES ('seen', (SELECT id FROM workspace LIMIT 1))");
      throw new Error('the sums differ');
    };
    await expect(dropWeek(pool, oldWeek, failing)).rejects.toThrow('the sums differ');
    expect((await pool.query(`SELECT 1 FROM ${oldWeek.name}`)).rows).toHaveLength(1);
    expect((await pool.query('SELECT 1 FROM former_slug')).rows).toEqual([]);
  });

  it('goes once, even if two drop it at the same time, after its calls were shown to what comes before its end', async () => {
    const seen: number[] = [];
    const count: typeof closeCalls = async (client, { fromId, toId }) => {
      const { rowCount } = await client.query('SELECT 1 FROM call WHERE id >= $1 AND id < $2', [
        fromId,
        toId,
      ]);
      seen.push(rowCount ?? 0);
    };
    await Promise.all(Array.from({ length: 4 }, () => dropWeek(pool, oldWeek, count)));
    expect(seen).toEqual([1]);
    expect((await listWeeks(pool)).map((week) => week.name)).toEqual([nextWeek.name, 'call_w20981229']);
  });

  it('comes back for a call of a late journal, and goes again', async () => {
    const late = await log(pool, oldWeek.startMs + 5000);
    expect(await placesOf(pool, late)).toEqual(['call_default']);
    await emptyDefault(pool);
    expect(await placesOf(pool, late)).toEqual([oldWeek.name]);
    expect(await dropWeek(pool, oldWeek, nothing)).toBe(true);
    expect(await placesOf(pool, late)).toEqual([]);
  });
});

describe('dropping a week while the log is in use', () => {
  let stage: Stage;
  let pool: Pool;
  const waiting = async () => {
    const { rows } = await pool.query(
      `SELECT pid FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    return rows.length;
  };

  beforeAll(async () => {
    stage = await onPostgres();
    pool = stage.db.pool;
  });
  afterAll(() => stage.close());

  it('waits for the open transaction without blocking: no settlement waits, and then it goes (contract: call-log/nobody-waits)', async () => {
    await makeWeek(pool, oldWeek);
    await makeWeek(pool, nextWeek);
    await log(pool, oldWeek.startMs + 1000);
    const user = await pool.connect();
    await user.query('BEGIN');
    await user.query('SELECT count(*) FROM call');
    const patience = { askTimes: 100_000, askPauseMs: 1, waitTimes: 0, waitPauseMs: 0 };
    let done = false;
    const dropped = dropWeek(pool, oldWeek, nothing, patience).then((result) => {
      done = true;
      return result;
    });
    const waited: number[] = [];
    for (let n = 0; n < 20; n++) {
      await log(pool, nextWeek.startMs + 1000 + n);
      waited.push(await waiting());
    }
    expect(waited.filter((locks) => locks > 0)).toEqual([]);
    expect(done).toBe(false);
    await user.query('COMMIT');
    user.release();
    expect(await dropped).toBe(true);
    expect((await listWeeks(pool)).map((week) => week.name)).toEqual([nextWeek.name]);
  });

  it('gives up if no gap comes, with everything as it was', async () => {
    await makeWeek(pool, oldWeek);
    const id = await log(pool, oldWeek.startMs + 2000);
    const user = await pool.connect();
    await user.query('BEGIN');
    await user.query('SELECT count(*) FROM call');
    const patience = { askTimes: 2, askPauseMs: 1, waitTimes: 2, waitPauseMs: 1 };
    await expect(dropWeek(pool, oldWeek, nothing, patience)).rejects.toThrow(TablesInUse);
    expect(await placesOf(pool, id)).toEqual([oldWeek.name]);
    await user.query('COMMIT');
    user.release();
    expect(await dropWeek(pool, oldWeek, nothing, patience)).toBe(true);
  });

  it('lets a settlement through that comes while it waits for a lock', async () => {
    await makeWeek(pool, oldWeek);
    const user = await pool.connect();
    await user.query('BEGIN');
    await user.query('SELECT count(*) FROM call');
    const patience = { askTimes: 0, askPauseMs: 0, waitTimes: 100_000, waitPauseMs: 1 };
    const dropped = dropWeek(pool, oldWeek, nothing, patience);
    for (let n = 0; n < 5; n++) await log(pool, nextWeek.startMs + 5000 + n);
    await user.query('COMMIT');
    user.release();
    expect(await dropped).toBe(true);
  });
});
