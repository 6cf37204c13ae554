import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSpend } from '#lib/control/operations/key/spend';
import { storeOf } from '#lib/control/operations/store';
import { dayStart, knownZone } from '#lib/core/charts/zone';
import { foldUsage } from '#lib/gateway/settlement/usage/fold';
import { type Db, openDb } from '#lib/platform/data/db';
import { spendAt } from '#tests/support/control/spend';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { createCustomer, newId } from '#tests/support/settlement';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Lord Howe changed its clocks by half an hour in the month before. */
const nowMs = Date.parse('2026-11-02T10:07:21.5Z');

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  await db.pool.query('INSERT INTO seen_time (one, at) VALUES (1, $1)', [new Date(nowMs)]);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

interface Spent {
  readonly key: string;
  readonly atMs: number;
  readonly nano: bigint;
}

/** As admission sums the minutes of a key. */
function byHand(spent: readonly Spent[], key: string, zone: string, atMs: number) {
  const inside = (hours: number) => (one: Spent) =>
    Math.floor(one.atMs / minuteMs) * minuteMs > atMs - hours * hourMs;
  const today = dayStart(atMs, knownZone(zone));
  const own = spent.filter((one) => one.key === key);
  const sum = (some: readonly Spent[]) => some.reduce((total, { nano }) => total + nano, 0n);
  return {
    dayNano: sum(own.filter((one) => one.atMs >= today)),
    d7Nano: sum(own.filter(inside(168))),
    d30Nano: sum(own.filter(inside(720))),
  };
}

describe.each([
  ['Asia/Kathmandu', 'America/St_Johns'],
  ['Australia/Lord_Howe', 'UTC'],
])('the spend of keys in %s', (zone, otherZone) => {
  it('is that of their minutes: at every edge, before and after its days are counted, in another zone', async () => {
    const first = await createCustomer(db.pool);
    const stranger = await createCustomer(db.pool);
    const { workspaceId } = first;
    const keys = [first.keyId, newId(), stranger.keyId, newId()] as const;
    await db.pool.query(
      `INSERT INTO api_key (id, workspace_id, name, hash, display_start, display_end)
       VALUES ($1, $2, 'second', $3, 'mg_', 'x')`,
      [keys[1], workspaceId, Buffer.from(keys[1])],
    );
    const zoneOf = async (to: string) => {
      await db.pool.query('UPDATE workspace SET time_zone = $2 WHERE id = ANY ($1)', [
        [workspaceId, stranger.workspaceId],
        to,
      ]);
    };
    await zoneOf(zone);

    const midnight = dayStart(nowMs, knownZone(zone));
    const ends = [
      nowMs,
      midnight - 1,
      midnight,
      midnight + 13 * minuteMs + 1,
      nowMs - (nowMs % (15 * minuteMs)),
    ];
    const edges = [nowMs, midnight, midnight - 24 * hourMs].flatMap((end) =>
      [0, 168, 720].map((hours) => end - hours * hourMs),
    );
    const spent: Spent[] = [];
    const spend = async (key: string | undefined, atMs: number) => {
      if (key === undefined) return;
      const one = { key, atMs, nano: 1n + BigInt(spent.length) ** 3n };
      spent.push(one);
      await spendAt(db.pool, key, atMs, one.nano);
    };
    const spendAround = async (steps: readonly number[]) => {
      for (const [at, edge] of edges.entries())
        for (const more of steps) await spend(keys[(at + more + 16) % 3], edge + more * minuteMs);
    };
    const expectSame = async (zoneNow: string) => {
      for (const end of ends) {
        const spendOf = await readSpend(storeOf(db), keys, new Date(end));
        for (const key of keys) {
          expect(spendOf(key), new Date(end).toISOString()).toEqual(byHand(spent, key, zoneNow, end));
        }
      }
    };

    await spendAround([-16, -15, -1, 0, 1, 14, 15]);
    for (let day = 0; day < 32; day++) await spend(keys[day % 3], nowMs - day * 23 * hourMs);
    await expectSame(zone);
    await foldUsage(db.pool, nowMs, { mostDays: 9 });
    await expectSame(zone);
    await foldUsage(db.pool, nowMs);
    await expectSame(zone);
    await spendAround([-7, 0]);
    await expectSame(zone);
    await zoneOf(otherZone);
    await expectSame(otherZone);
    await foldUsage(db.pool, nowMs, { mostDays: 5 });
    await expectSame(otherZone);
    await foldUsage(db.pool, nowMs);
    await expectSame(otherZone);
  });
});

it('a finished day is read as such', async () => {
  const { workspaceId, keyId } = await createCustomer(db.pool);
  await spendAt(db.pool, keyId, nowMs - 48 * hourMs, 5n);
  await foldUsage(db.pool, nowMs);
  await db.pool.query('UPDATE usage_day_key SET cost_nano = 7 WHERE workspace_id = $1', [workspaceId]);
  const spendOf = await readSpend(storeOf(db), [keyId], new Date(nowMs));
  expect(spendOf(keyId)).toEqual({ dayNano: 0n, d7Nano: 7n, d30Nano: 7n });
});
