import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quarterChecks } from '#lib/control/billing/quarter-checks';
import { WorkspaceScope } from '#lib/control/operations/scope';
import { storeOf } from '#lib/control/operations/store';
import { readUsage, splits, type UsageFilters, type UsageQuery } from '#lib/control/operations/usage/sums';
import { bucketStarts, steps } from '#lib/core/charts/buckets';
import { dayStart, daysLater, knownZone } from '#lib/core/charts/zone';
import { Histogram } from '#lib/core/metering/histogram';
import { noUsage } from '#lib/core/metering/usage';
import { ownModel } from '#lib/gateway/settlement/pure/own-answer';
import { newQuarter, type UsageQuarter } from '#lib/gateway/settlement/pure/quarter';
import { addSums } from '#lib/gateway/settlement/settle';
import { foldUsage } from '#lib/gateway/settlement/usage/fold';
import { type Db, openDb } from '#lib/platform/data/db';
import { migrate } from '#lib/platform/data/migrate';
import { createDatabase, createEmptyDatabase, type TestDatabase } from '#tests/support/database';
import { newId } from '#tests/support/settlement';
import { copyMigrations } from '#tests/support/shared/migrations';

/** The migration that makes the sums of all keys and of keys by day. */
const beforeTotals = '20261128010000';
const quarterMs = 900_000;
const dayMs = 86_400_000;
/** Lord Howe changed its clocks by half an hour in the month before. */
const nowMs = Date.parse('2026-11-02T10:00:00Z');

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

/** The same numbers in each run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const keys = [randomUUID(), randomUUID()];

/** What settlement adds for some calls of a quarter. */
function drawn(workspaceId: string, atMs: number, random: (below: number) => number): UsageQuarter {
  const model = ['a/b', 'c/d', ''][random(3)] ?? '';
  const quarter = newQuarter({
    workspaceId,
    keyId: keys[random(2)] ?? '',
    model,
    provider: model && (random(2) ? 'one' : 'two'),
    quarterMs: Math.floor(atMs / quarterMs) * quarterMs,
  });
  quarter.calls = 1 + random(5);
  quarter.errors.provider = random(2);
  for (let call = 0; call < quarter.calls; call++) quarter.latency.add(random(30_000));
  return { ...quarter, used: { ...noUsage, input: random(1000) }, costNano: BigInt(random(1_000_000)) };
}

async function settle(...quarters: UsageQuarter[]): Promise<void> {
  const client = await db.pool.connect();
  for (const quarter of quarters) await addSums(client, { minutes: [], quarters: [quarter] });
  client.release();
}

async function workspaceIn(timeZone: string): Promise<string> {
  const id = newId();
  await db.pool.query('INSERT INTO workspace (id, slug, name, time_zone) VALUES ($1, $2, $2, $3)', [
    id,
    `w-${id}`,
    timeZone,
  ]);
  return id;
}

interface Asked {
  readonly range: { readonly fromMs: number; readonly toMs: number };
  readonly split?: (typeof splits)[number] | undefined;
  readonly startsMs?: readonly number[] | undefined;
  readonly filters: UsageFilters;
}

function anyAsk(zone: string, random: (below: number) => number): Asked {
  const edge = () =>
    random(2)
      ? daysLater(nowMs, zone, -random(40))
      : Math.floor(nowMs / quarterMs - random(40 * 96)) * quarterMs;
  const [one, other] = [edge(), edge()];
  const range = { fromMs: Math.min(one, other), toMs: Math.max(one, other) + quarterMs };
  const step = [...steps, null][random(4)];
  const startsMs = step ? bucketStarts(range.fromMs, range.toMs, step, zone) : undefined;
  const filters = {
    model: random(3) ? undefined : 'a/b',
    key: random(3) ? undefined : keys[0],
  };
  return { range, split: [...splits, undefined][random(4)], startsMs, filters };
}

/** What an answer adds up to, by bucket and value. */
function summed(parts: Iterable<{ bucket: number; value: string; sums: Summed }>): Record<string, string> {
  const found = new Map<string, [number, number, number, bigint, Histogram]>();
  for (const { bucket, value, sums } of parts) {
    const name = `${bucket} ${value}`;
    const [calls, failed, input, cost, latency] = found.get(name) ?? [0, 0, 0, 0n, new Histogram()];
    latency.merge(sums.latency);
    const failures = failed + (sums.errors.provider ?? 0);
    found.set(name, [calls + sums.calls, failures, input + sums.used.input, cost + sums.costNano, latency]);
  }
  const told = ([calls, failed, input, cost, latency]: [number, number, number, bigint, Histogram]) =>
    `${calls} calls, ${failed} failed, ${input} tokens, ${cost} nano, ${latency.toNumber()}`;
  return Object.fromEntries([...found].sort().map(([name, sums]) => [name, told(sums)]));
}
type Summed = Pick<UsageQuarter, 'calls' | 'errors' | 'used' | 'costNano' | 'latency'>;

/** The same, counted by hand. */
function byHand(all: readonly UsageQuarter[], { range, split, startsMs, filters }: Asked) {
  const parts = all.flatMap((quarter) => {
    const { quarterMs: at, keyId, model, provider } = quarter;
    if (at < range.fromMs || at >= range.toMs) return [];
    if ((filters.model ?? model) !== model || (filters.key ?? keyId) !== keyId) return [];
    const value = split === undefined ? '' : { model, key: keyId, provider }[split];
    return [{ bucket: startsMs ? startsMs.findLastIndex((start) => start <= at) : 0, value, sums: quarter }];
  });
  return summed(parts);
}

const scopeOf = (id: string, timeZone: string) =>
  new WorkspaceScope({ id, slug: '', timeZone, retentionDays: null, demo: false });

async function expectSame(workspaceId: string, zone: string, all: readonly UsageQuarter[], seed: number) {
  const scope = scopeOf(workspaceId, zone);
  const random = randomFrom(seed);
  for (let time = 0; time < 12; time++) {
    const asked = anyAsk(zone, random);
    expect(summed(await readUsage(storeOf(db), scope, asked)), JSON.stringify(asked)).toEqual(
      byHand(all, asked),
    );
  }
}

async function expectSoundDays(workspaceId: string): Promise<void> {
  for (const { sql } of quarterChecks.slice(1)) {
    const { rows } = await db.pool.query<{ workspace: string }>(sql);
    expect(rows.filter(({ workspace }) => workspace === workspaceId)).toEqual([]);
  }
}

const spansOf = async (workspaceId: string) => {
  const { rows } = await db.pool.query<{ state: string; zone: string; days: number }>(
    'SELECT state, zone, count(*)::int AS days FROM usage_span WHERE workspace_id = $1 GROUP BY 1, 2 ORDER BY 1, 2',
    [workspaceId],
  );
  return rows;
};

describe.each(['Asia/Kathmandu', 'Australia/Lord_Howe'])(
  'usage of %s (contract: call-log/roll-up)',
  (zone) => {
    it('is the same before its days are counted, between, after, with what comes late, and in another zone', async () => {
      const id = await workspaceIn(zone);
      const random = randomFrom(zone.length);
      const all = Array.from({ length: 400 }, () => drawn(id, nowMs - random(40 * dayMs), random));
      await settle(...all);
      await expectSame(id, zone, all, 1);
      await foldUsage(db.pool, nowMs, { mostDays: 7 });
      await expectSame(id, zone, all, 2);
      await foldUsage(db.pool, nowMs);
      await expectSame(id, zone, all, 3);

      const late = Array.from({ length: 60 }, () => drawn(id, nowMs - random(40 * dayMs), random));
      await settle(...late);
      all.push(...late);
      await expectSame(id, zone, all, 4);
      await foldUsage(db.pool, nowMs);
      await expectSame(id, zone, all, 5);
      await expectSoundDays(id);

      const other = 'America/St_Johns';
      await db.pool.query('UPDATE workspace SET time_zone = $2 WHERE id = $1', [id, other]);
      await expectSame(id, other, all, 6);
      await foldUsage(db.pool, nowMs, { mostDays: 5 });
      await expectSame(id, other, all, 7);
      expect((await spansOf(id)).map(({ state }) => state)).toEqual(['due', 'summed']);
      await foldUsage(db.pool, nowMs);
      await expectSame(id, other, all, 8);
      await expectSoundDays(id);
      expect(await spansOf(id)).toMatchObject([{ state: 'summed', zone: other }]);
      expect(await foldUsage(db.pool, nowMs)).toBe(0);
    });
  },
);

it('quarters are counted two hours after their end, and their day is read in place of them', async () => {
  const id = await workspaceIn('Asia/Kathmandu');
  const scope = scopeOf(id, 'Asia/Kathmandu');
  const midnight = dayStart(nowMs, knownZone('Asia/Kathmandu'));
  const random = randomFrom(1);
  const first = drawn(id, midnight - dayMs, random);
  await settle(first);
  const counted = midnight - dayMs + quarterMs + 7_200_000;
  expect(await foldUsage(db.pool, counted - 1)).toBe(0);
  expect(await foldUsage(db.pool, counted)).toBe(1);
  await settle({ ...first, quarterMs: midnight - quarterMs });
  expect(await foldUsage(db.pool, midnight + 7_199_999)).toBe(0);
  expect(await foldUsage(db.pool, midnight + 7_200_000)).toBe(1);
  await db.pool.query('UPDATE usage_day SET calls = 1000 WHERE workspace_id = $1', [id]);
  await db.pool.query('UPDATE usage_day_total SET calls = 2000 WHERE workspace_id = $1', [id]);
  await db.pool.query('UPDATE usage_day_key SET calls = 3000 WHERE workspace_id = $1', [id]);
  const read = async (asked: Omit<UsageQuery, 'range'>, fromMs = midnight - dayMs) => {
    const parts = await readUsage(storeOf(db), scope, { ...asked, range: { fromMs, toMs: midnight } });
    return [...new Set(parts.map(({ sums }) => sums.calls % 1000))].join();
  };
  const ofModels = { filters: { key: first.keyId }, split: 'model' } as const;
  for (const asked of [{}, { split: 'model' }, { split: 'key' }, { split: 'member' }, ofModels] as const) {
    expect(await read(asked), JSON.stringify(asked)).toBe('0');
    expect(await read(asked, midnight - dayMs + quarterMs)).not.toBe('0');
  }
});

it('a day that is not over keeps its sums when the clock is set back or the workspace moves', async () => {
  const id = await workspaceIn('UTC');
  const random = randomFrom(3);
  const at = (hours: number) => drawn(id, nowMs - hours * 3_600_000, random);
  const all = [at(40), at(9), at(5)];
  await settle(...all);
  await foldUsage(db.pool, nowMs);
  await expectSame(id, 'UTC', all, 1);
  const late = [at(6), at(3), at(1)];
  await settle(...late);
  all.push(...late);
  await foldUsage(db.pool, nowMs - 3 * 3_600_000);
  await expectSame(id, 'UTC', all, 2);
  await expectSoundDays(id);
  const zone = 'America/Havana';
  await db.pool.query('UPDATE workspace SET time_zone = $2 WHERE id = $1', [id, zone]);
  await foldUsage(db.pool, nowMs - 3 * 3_600_000);
  await expectSame(id, zone, all, 3);
  await foldUsage(db.pool, nowMs);
  await expectSame(id, zone, all, 4);
  await expectSoundDays(id);
});

it('days are counted right beside settlement, by several processes, and killed in the middle', async () => {
  const id = await workspaceIn('UTC');
  const random = randomFrom(7);
  const all: UsageQuarter[] = [];
  let settling = true;
  const fold = async () => {
    const own = openDb(`${database.url}?application_name=folds`, { max: 2 });
    while (settling) await foldUsage(own.pool, nowMs).catch(() => undefined);
    await own.close();
  };
  let killed = 0;
  const kill = async () => {
    while (settling) {
      const { rowCount } = await db.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'folds' AND state <> 'idle' AND random() < 0.02`,
      );
      killed += rowCount ?? 0;
    }
  };
  const others = [fold(), fold(), kill()];
  for (let time = 0; time < 150 || killed < 5; time++) {
    const quarter = drawn(id, nowMs - dayMs - random(4 * dayMs), random);
    await settle(quarter);
    all.push(quarter);
    if (time % 20 === 0) await expectSame(id, 'UTC', all, time);
  }
  settling = false;
  await Promise.all(others);
  await foldUsage(db.pool, nowMs);
  await expectSame(id, 'UTC', all, 9);
  await expectSoundDays(id);
  expect(await spansOf(id)).toMatchObject([{ state: 'summed' }]);
});

it('sums that are wrong are made again as the check says', async () => {
  const id = await workspaceIn('UTC');
  const random = randomFrom(11);
  const all = Array.from({ length: 40 }, () => drawn(id, nowMs - random(3 * dayMs), random));
  await settle(...all);
  await foldUsage(db.pool, nowMs);
  const broken = [
    'UPDATE usage_quarter_total SET calls = calls + 1',
    'DELETE FROM usage_day_total',
    'UPDATE usage_day_key SET latency = 0',
    'UPDATE usage_day SET cost_nano = cost_nano + 1',
  ];
  for (const sql of broken) {
    await db.pool.query(`${sql} WHERE workspace_id = $1`, [id]);
    const found = await Promise.all(
      quarterChecks.slice(1).map(async ({ sql, remedy }) => {
        const { rows } = await db.pool.query<{ workspace: string }>(sql);
        return rows.some(({ workspace }) => workspace === id) ? remedy : undefined;
      }),
    );
    const remedy = /"(.*)"/.exec(found.find((text) => text !== undefined) ?? '')?.[1];
    expect(remedy, sql).toBeDefined();
    await db.pool.query(`${remedy} AND workspace_id = $1`, [id]);
    await foldUsage(db.pool, nowMs);
    await expectSoundDays(id);
    await expectSame(id, 'UTC', all, 2);
  }
});

it('a database of before has the same usage once it is migrated, and no process of before counts in it', async () => {
  const old = await createEmptyDatabase();
  await migrate(old.url, copyMigrations(beforeTotals));
  const pool = new Pool({ connectionString: old.url });
  const id = newId();
  const day = '2026-10-30T00:00:00Z';
  const next = '2026-10-31T00:00:00Z';
  const sums = [
    ['a/b', 0],
    ['a/b', 1],
    ['c/d', 0],
    [ownModel, 0],
  ] as const;
  const fill = (columns: string, at: string) =>
    `INSERT INTO ${columns}, key_id, model, provider, calls, latency) VALUES
       ${sums.map(([model, n]) => `('${id}', ${at}, '${keys[n]}', '${model}', 'one', ${n + 2}, 7)`).join()};`;
  const span = (at: string, until: string) =>
    `INSERT INTO usage_span (workspace_id, day, until, zone, state) VALUES ('${id}', '${at}', '${until}', 'UTC', 'made')`;
  await pool.query(`
    ${fill('usage_quarter_counted (workspace_id, quarter', `'${day}'`)}
    ${fill('usage_day (workspace_id, day, until', `'${day}', '${next}'`)}
    ${span(day, next)}`);
  await migrate(old.url);
  for (const { sql } of quarterChecks.slice(1)) expect((await pool.query(sql)).rows).toEqual([]);
  const counts = async (table: string) =>
    (await pool.query<{ calls: string }>(`SELECT calls::text AS calls FROM ${table} ORDER BY 1`)).rows.map(
      ({ calls }) => Number(calls),
    );
  expect(await counts('usage_quarter_total')).toEqual([2, 2, 5]);
  expect(await counts('usage_day_total')).toEqual([2, 2, 5]);
  expect(await counts('usage_day_key')).toEqual([3, 4]);
  await expect(pool.query(span(next, '2026-11-01T00:00:00Z'))).rejects.toThrow('usage_span_state');
  await pool.end();
  await old.drop();
});
