import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriesOfUsage, showUsage } from '#lib/control/operations/usage/operations';
import { dayStart, daysLater, monthsEarlier } from '#lib/core/charts/zone';
import { Histogram } from '#lib/core/metering/histogram';
import { foldUsage } from '#lib/gateway/settlement/usage/fold';
import { type Db, openDb } from '#lib/platform/data/db';
import { createKey, createWorkspace, operate, setWorkspace } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const quarterMs = 900_000;
const dayMs = 86_400_000;
const iso = (ms: number) => new Date(ms).toISOString();

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  await db.pool.query(`INSERT INTO seen_time (one, at) VALUES (1, now())`);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

interface Customer {
  readonly id: string;
  readonly slug: string;
  readonly key: string;
}

async function customer(timeZone: string): Promise<Customer> {
  const { id, slug } = await createWorkspace(db, { name: 'Usage', timeZone });
  const { id: key } = await createKey(db, { workspace: slug, name: 'web' });
  return { id, slug, key };
}

interface Given {
  readonly atMs: number;
  readonly model?: string;
  readonly provider?: string;
  readonly keyId?: string;
  readonly calls?: number;
  readonly costNano?: bigint;
  readonly latencies?: readonly number[];
}

async function use({ id, key }: Customer, ...rows: readonly Given[]): Promise<void> {
  for (const { atMs, model = 'a/b', provider = 'one', keyId = key, ...rest } of rows) {
    const { calls = 1, costNano = 1_000_000_000n, latencies = [] } = rest;
    const latency = new Histogram();
    for (const ms of latencies) latency.add(ms);
    const quarter = iso(Math.floor(atMs / quarterMs) * quarterMs);
    await db.pool.query(
      `INSERT INTO usage_quarter (workspace_id, quarter, key_id, model, provider, calls, output_tokens, cost_nano, latency)
       VALUES ($1, $2, $3, $4, $5, $6, 7, $7, $8)`,
      [id, quarter, keyId, model, provider, calls, `${costNano}`, latency.toNumber()],
    );
  }
}

const show = ({ slug }: Customer, given: Record<string, unknown>) =>
  operate(db, showUsage, { workspace: slug, ...given });
const series = ({ slug }: Customer, given: Record<string, unknown>) =>
  operate(db, seriesOfUsage, { workspace: slug, ...given });

describe('usage by day', () => {
  it.each([
    ['Asia/Kathmandu', '2026-03-10T18:14:59Z', '2026-03-10T18:15:00Z'],
    ['Asia/Kolkata', '2026-03-10T18:29:59Z', '2026-03-10T18:30:00Z'],
    ['Australia/Lord_Howe', '2026-03-10T12:59:59Z', '2026-03-10T13:00:00Z'],
  ])('begins at midnight of %s', async (zone, before, after) => {
    const one = await customer(zone);
    await use(one, { atMs: Date.parse(before) }, { atMs: Date.parse(after), calls: 5 });
    const report = await show(one, { from: '2026-03-01', to: '2026-04-01', by: 'day' });
    expect(report.rows).toMatchObject([
      { day: '2026-03-10', calls: 1 },
      { day: '2026-03-11', calls: 5 },
    ]);
    expect(report).toMatchObject({ timeZone: zone, total: { calls: 6, outputTokens: 14 }, cost: '2' });
  });

  it('moves with the zone of the workspace, and the sum of a range stays', async () => {
    const one = await customer('UTC');
    await use(
      one,
      { atMs: Date.parse('2026-03-10T18:14:59Z') },
      { atMs: Date.parse('2026-03-10T18:15:00Z') },
    );
    const march = { from: '2026-02-28T18:15:00Z', to: '2026-03-31T18:15:00Z', by: 'day' };
    const before = await show(one, march);
    expect(before.rows).toMatchObject([{ day: '2026-03-10', calls: 2 }]);
    await setWorkspace(db, { workspace: one.slug, timeZone: 'Asia/Kathmandu' });
    const after = await show(one, march);
    expect(after.rows).toMatchObject([
      { day: '2026-03-10', calls: 1 },
      { day: '2026-03-11', calls: 1 },
    ]);
    expect([after.cost, after.total.calls]).toEqual([before.cost, before.total.calls]);
  });
});

describe('quantiles', () => {
  it('are those of all calls of the range, not averages of its quarters', async () => {
    const one = await customer('UTC');
    const many = Array.from({ length: 900 }, (_, at) => 100 + at);
    const slow = Array.from({ length: 100 }, (_, at) => 20_000 + at * 10);
    await use(
      one,
      { atMs: Date.parse('2026-03-10T10:00:00Z'), calls: 900, latencies: many },
      { atMs: Date.parse('2026-03-10T10:15:00Z'), calls: 100, latencies: slow, provider: 'two' },
    );
    const { total, rows } = await show(one, { from: '2026-03-10', to: '2026-03-11', by: 'provider' });
    // The 500th and the 950th of a thousand.
    expect(Math.abs((total.latencyMs?.p50 ?? 0) / 599 - 1)).toBeLessThanOrEqual(0.05);
    expect(Math.abs((total.latencyMs?.p95 ?? 0) / 20_490 - 1)).toBeLessThanOrEqual(0.05);
    expect(total.firstByteMs).toBeNull();
    expect(rows.map(({ provider, latencyMs }) => [provider, latencyMs && latencyMs.p50 > 10_000])).toEqual([
      ['one', false],
      ['two', true],
    ]);
  });
});

describe('a series', () => {
  it('has a point for each step of the range, empty ones too, stacked by what was asked', async () => {
    const one = await customer('Asia/Kathmandu');
    const at = Date.parse('2026-03-10T10:00:00Z');
    await use(
      one,
      { atMs: at },
      { atMs: at + 2 * quarterMs, model: 'c/d', costNano: 3_000_000_000n },
      { atMs: at + 2 * quarterMs, provider: 'two', calls: 4 },
      { atMs: at - quarterMs, calls: 100 },
    );
    const given = { from: iso(at), to: iso(at + 4 * quarterMs), step: 'quarter', by: 'model' };
    const found = await series(one, given);
    expect(found.starts).toEqual([0, 1, 2, 3].map((n) => iso(at + n * quarterMs)));
    expect(found.groups.map(({ value, points }) => [value, points.map(({ calls }) => calls)])).toEqual([
      ['c/d', [0, 0, 1, 0]],
      ['a/b', [1, 0, 4, 0]],
    ]);
    expect(found.total).toMatchObject({ calls: 6, cost: '5' });
    expect(found.before).toMatchObject({ from: iso(at - 4 * quarterMs), to: iso(at), total: { calls: 100 } });
    const hours = await series(one, { ...given, step: 'hour', by: 'provider', model: 'a/b' });
    // Kathmandu's hours begin at a quarter past.
    expect(hours.starts).toEqual([iso(at), iso(at + quarterMs)]);
    expect(hours.groups.map(({ value, points }) => [value, points.map(({ calls }) => calls)])).toEqual([
      ['one', [1, 0]],
      ['two', [0, 4]],
    ]);
    expect((await series(one, { ...given, by: undefined })).groups).toHaveLength(1);
  });

  it('compares whole days with as many days before, also over a change of clocks', async () => {
    const one = await customer('Australia/Lord_Howe');
    const [from, to] = ['2026-10-03T13:30:00.000Z', '2026-10-05T13:00:00.000Z'];
    const found = await series(one, { from, to, step: 'day' });
    expect(found.starts).toEqual([from, '2026-10-04T13:00:00.000Z']);
    expect(found.before).toMatchObject({ from: '2026-10-01T13:30:00.000Z', to: from });
  });

  it('shows the ten most expensive groups and sums up the others', async () => {
    const one = await customer('UTC');
    const at = Date.parse('2026-03-10T10:00:00Z');
    const models = Array.from({ length: 13 }, (_, n) => `m/${String(n).padStart(2, '0')}`);
    await use(one, ...models.map((model, n) => ({ atMs: at, model, costNano: BigInt(100 - n) })));
    const { groups, total } = await series(one, {
      from: '2026-03-10',
      to: '2026-03-11',
      step: 'day',
      by: 'model',
    });
    expect(groups.map(({ value }) => value)).toEqual([...models.slice(0, 10), null]);
    expect(groups.at(-1)?.total.calls).toBe(3);
    expect(total.calls).toBe(13);
  });

  it.each(['key', 'member'] as const)(
    'by %s has the largest one by one, and at each point what all others have together',
    async (by) => {
      const one = await customer('UTC');
      const at = Date.parse('2026-03-10T10:00:00Z');
      const ids: string[] = [];
      for (let n = 0; n < 13; n++) {
        const { rows } = await db.pool.query<{ id: string }>(
          'INSERT INTO "user" (id, email) VALUES (gen_random_uuid(), $1) RETURNING id::text AS id',
          [`maker-${by}-${n}@usage.test`],
        );
        const maker = rows[0]?.id ?? '';
        const { id } = await createKey(db, { workspace: one.slug, name: `key ${n}` });
        await db.pool.query('UPDATE api_key SET created_by = $2 WHERE id = $1', [id, maker]);
        ids.push(by === 'key' ? id : maker);
        const costNano = BigInt(100 - n);
        await use(
          one,
          { atMs: at, keyId: id, costNano, calls: n + 1, latencies: [100 * n] },
          { atMs: at + dayMs, keyId: id, costNano, model: 'c/d' },
          { atMs: at + dayMs, keyId: id, costNano: 0n, model: '(gateway)' },
        );
      }
      await use(one, { atMs: at, costNano: 1000n, calls: 50 });
      const given = { from: '2026-03-10', to: '2026-03-12', step: 'day', by };
      const before = await series(one, given);
      const first = by === 'key' ? one.key : '';
      expect(before.groups.map(({ value }) => value)).toEqual([first, ...ids.slice(0, 9), null]);
      const calls = before.groups.map(({ points }) => points.map((point) => point.calls));
      expect(calls).toEqual([[50, 0], ...Array.from({ length: 9 }, (_, n) => [n + 1, 1]), [46, 4]]);
      expect(before.groups.at(-1)?.points[0]?.latencyMs?.p50).toBeGreaterThan(900);
      expect(before.total).toMatchObject({ calls: 154 });
      await foldUsage(db.pool, Date.now());
      expect(await series(one, given)).toEqual(before);
      expect((await series(one, { ...given, durations: false })).groups.at(-1)?.total.calls).toBe(50);
      const ofModel = await series(one, { ...given, model: 'c/d' });
      expect(ofModel.groups.at(-1)).toMatchObject({ value: null, total: { calls: 3 } });
    },
  );

  it('is refused when it would have too many points', async () => {
    const one = await customer('UTC');
    const asked = series(one, { from: '2026-01-01', to: '2026-03-01', step: 'quarter' });
    await expect(asked).rejects.toMatchObject({ field: 'step', code: 'invalid_body' });
  });
});

describe('usage of another workspace', () => {
  it('does not exist, whatever is asked', async () => {
    const [own, other] = [await customer('UTC'), await customer('UTC')];
    const at = Date.parse('2026-03-10T10:00:00Z');
    await use(other, { atMs: at });
    const given = { from: '2026-03-10', to: '2026-03-11' };
    expect(await show(own, { ...given, key: other.key })).toMatchObject({ cost: '0', rows: [] });
    expect(await series(own, { ...given, by: 'key' })).toMatchObject({ groups: [], total: { calls: 0 } });
    await use(own, { atMs: at, keyId: other.key });
    expect((await show(own, { ...given, by: 'key' })).rows).toMatchObject([{ key: other.key, name: null }]);
  });
});

describe('usage of more than 13 months ago (contract: call-log/days)', () => {
  const zone = 'Asia/Kathmandu';
  const edge = () => monthsEarlier(Date.now(), zone, 13);
  const days = async ({ id }: Customer) => {
    const { rows } = await db.pool.query(
      `SELECT day, until, calls::int AS calls, latency::text AS latency FROM usage_day WHERE workspace_id = $1 ORDER BY day, model`,
      [id],
    );
    return rows;
  };

  it('is kept by days of the workspace, with the same totals', async () => {
    const one = await customer(zone);
    const day = dayStart(edge() - 3 * dayMs, zone);
    const latencies = [10, 200, 3_000];
    await use(
      one,
      { atMs: day, latencies },
      { atMs: day + 5 * quarterMs, calls: 2, latencies },
      { atMs: day + dayMs - 1, model: 'c/d' },
      { atMs: day + dayMs, calls: 9 },
      { atMs: edge() },
    );
    const range = { from: iso(day - 10 * dayMs), to: iso(Date.now()), by: 'model' };
    const before = await show(one, range);
    await Promise.all([1, 2, 3].map(() => foldUsage(db.pool, Date.now())));
    await foldUsage(db.pool, Date.now());
    expect(await show(one, range)).toEqual(before);
    expect(await days(one)).toMatchObject([
      { day: new Date(day), until: new Date(day + dayMs), calls: 3 },
      { calls: 1 },
      { day: new Date(day + dayMs), calls: 9 },
      { day: new Date(edge()), calls: 1 },
    ]);
    const left = await db.pool.query(
      `SELECT quarter FROM usage_quarter WHERE workspace_id = $1
       UNION ALL SELECT quarter FROM usage_quarter_counted WHERE workspace_id = $1`,
      [one.id],
    );
    expect(left.rows).toEqual([{ quarter: new Date(edge()) }]);
    expect(await foldUsage(db.pool, Date.now())).toBe(0);
  });

  it('takes what a late journal brings into the day that is there', async () => {
    const one = await customer(zone);
    const day = dayStart(edge() - 3 * dayMs, zone);
    await use(one, { atMs: day, latencies: [10] });
    await foldUsage(db.pool, Date.now());
    await use(one, { atMs: day + quarterMs, calls: 4, latencies: [10, 10] });
    expect(await show(one, { from: iso(day), to: iso(day + dayMs), by: 'day' })).toMatchObject({
      total: { calls: 5 },
    });
    await foldUsage(db.pool, Date.now());
    const [row, ...others] = await days(one);
    expect([row.calls, Histogram.ofNumber(row.latency).total, others]).toEqual([5, 3, []]);
  });

  it('is folded no further than the believed time allows, and not while another process does it', async () => {
    const one = await customer(zone);
    const day = dayStart(edge() + 3 * dayMs, zone);
    await use(one, { atMs: day });
    await foldUsage(db.pool, Date.now() + 30 * dayMs);
    const kept = await db.pool.query('SELECT quarter FROM usage_quarter_counted WHERE workspace_id = $1', [
      one.id,
    ]);
    expect(kept.rows).toEqual([{ quarter: new Date(day) }]);
    const client = await db.pool.connect();
    await use(one, { atMs: day - 10 * dayMs });
    await client.query('BEGIN; SELECT FROM seen_time FOR UPDATE');
    expect(await foldUsage(db.pool, Date.now())).toBe(0);
    await client.query('ROLLBACK');
    client.release();
    expect(await foldUsage(db.pool, Date.now(), { mostDays: 1 })).toBe(1);
    expect(await days(one)).toHaveLength(2);
  });

  it('widens a range that reaches into it to whole days, which the answer names, and a series to days', async () => {
    const one = await customer(zone);
    const day = dayStart(edge() - 3 * dayMs, zone);
    await use(one, { atMs: day }, { atMs: day + dayMs });
    await foldUsage(db.pool, Date.now());
    const cut = { from: iso(day + 20 * quarterMs), to: iso(day + dayMs + quarterMs + 1) };
    expect(await show(one, cut)).toMatchObject({
      from: iso(day),
      to: iso(daysLater(day, zone, 2)),
      total: { calls: 2 },
    });
    expect(await series(one, { ...cut, step: 'quarter' })).toMatchObject({
      step: 'day',
      starts: [iso(day), iso(day + dayMs)],
    });
  });

  it('widens a range to whole days of the zone that the workspace had when they were folded', async () => {
    const one = await customer(zone);
    const day = dayStart(edge() - 3 * dayMs, zone);
    await use(one, { atMs: day });
    await foldUsage(db.pool, Date.now());
    await setWorkspace(db, { workspace: one.slug, timeZone: 'UTC' });
    const midnight = Date.parse(`${iso(day + dayMs / 2).slice(0, 10)}T00:00:00Z`);
    const found = await show(one, { from: iso(midnight), to: iso(midnight + quarterMs), by: 'day' });
    expect(found).toMatchObject({ from: iso(day), total: { calls: 1 } });
  });
});
