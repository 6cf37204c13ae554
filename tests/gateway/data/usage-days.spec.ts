import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quarterChecks } from '#lib/control/billing/quarter-checks';
import { WorkspaceScope } from '#lib/control/operations/scope';
import { storeOf } from '#lib/control/operations/store';
import { readUsage, splits, type UsageFilters } from '#lib/control/operations/usage/sums';
import { bucketStarts, steps } from '#lib/core/charts/buckets';
import { dayStart, daysLater, knownZone } from '#lib/core/charts/zone';
import { Histogram } from '#lib/core/metering/histogram';
import { noUsage } from '#lib/core/metering/usage';
import { newQuarter, type UsageQuarter } from '#lib/gateway/settlement/pure/quarter';
import { addSums } from '#lib/gateway/settlement/settle';
import { foldUsage } from '#lib/gateway/settlement/usage/fold';
import { type Db, openDb } from '#lib/platform/data/db';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { newId } from '#tests/support/settlement';

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
  const filters = random(3) ? {} : { model: 'a/b', key: random(2) ? keys[0] : undefined };
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

async function expectSame(workspaceId: string, zone: string, all: readonly UsageQuarter[], seed: number) {
  const scope = new WorkspaceScope({
    id: workspaceId,
    slug: '',
    timeZone: zone,
    retentionDays: null,
    demo: false,
  });
  const random = randomFrom(seed);
  for (let time = 0; time < 12; time++) {
    const asked = anyAsk(zone, random);
    expect(summed(await readUsage(storeOf(db), scope, asked)), JSON.stringify(asked)).toEqual(
      byHand(all, asked),
    );
  }
}

async function expectSoundDays(workspaceId: string): Promise<void> {
  const [, check] = quarterChecks;
  const { rows } = await db.pool.query<{ workspace: string }>(check?.sql ?? '');
  expect(rows.filter(({ workspace }) => workspace === workspaceId)).toEqual([]);
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

it('a day is counted two hours after its end, and its rows are read in place of its quarters', async () => {
  const id = await workspaceIn('Asia/Kathmandu');
  const midnight = dayStart(nowMs, knownZone('Asia/Kathmandu'));
  await settle(drawn(id, midnight - quarterMs, randomFrom(1)));
  expect(await foldUsage(db.pool, midnight + 7_199_999)).toBe(0);
  expect(await foldUsage(db.pool, midnight + 7_200_000)).toBe(1);
  await db.pool.query('UPDATE usage_day SET calls = 1000 WHERE workspace_id = $1', [id]);
  const scope = new WorkspaceScope({
    id,
    slug: '',
    timeZone: 'Asia/Kathmandu',
    retentionDays: null,
    demo: false,
  });
  const read = (fromMs: number) => readUsage(storeOf(db), scope, { range: { fromMs, toMs: midnight } });
  expect(await read(midnight - dayMs)).toMatchObject([{ sums: { calls: 1000 } }]);
  expect(await read(midnight - dayMs + quarterMs)).not.toMatchObject([{ sums: { calls: 1000 } }]);
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
