import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mostCompared, mostCounted } from '#lib/control/operations/call/search';
import { type Db, openDb } from '#lib/platform/data/db';
import { listCalls } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { createCustomer } from '#tests/support/settlement';

let database: TestDatabase;
let db: Db;
let slug: string;
const all = mostCompared + 2_000;

/** Calls of one workspace, the n-th with n in its id; every tenth failed, and the oldest 500 asked for "rare". */
const insertMany = `
  INSERT INTO call (id, at, workspace_id, key_id, cost_nano, hold_nano, over_hold_nano, status, latency_ms, overhead_ms,
    streamed, family, operation, requested_model, end_reason, usage_source, flags, usage, lines, attempts)
  SELECT ('01a0cff2-' || lpad(to_hex(n / 65536), 4, '0') || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, now(), $1, $2,
    0, 0, 0, CASE WHEN n % 10 = 0 THEN 429 ELSE 200 END, 1, 1, false, 'chat', 'chat.create',
    CASE WHEN n <= 500 THEN 'rare' ELSE 'usual' END, 'completed', 'none', '{}', '{}', '[]', '[]'
  FROM generate_series(1, $3::int) AS n`;

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  const { workspaceId, keyId } = await createCustomer(db.pool);
  slug = `w-${workspaceId}`;
  await db.pool.query(insertMany, [workspaceId, keyId, all]);
  await db.pool.query('ANALYZE call');
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

describe('a search in many calls (contract: call-log/searches)', () => {
  it('ends after so many calls, and goes on from there', async () => {
    const first = await listCalls(db, slug, { model: 'rare', limit: 500 });
    expect(first.data).toEqual([]);
    expect(first.next).not.toBeNull();
    const second = await listCalls(db, slug, { model: 'rare', limit: 500, after: first.next });
    expect(second.data).toHaveLength(500);
    expect(second.next).toBeNull();
  });

  it('finds what an index serves however old it is', async () => {
    const oldest = '01a0cff2-0000-7000-8000-000000000001';
    expect((await listCalls(db, slug, { id: oldest, model: 'rare' })).data).toHaveLength(1);
    const failed = await listCalls(db, slug, { status: '429', model: 'rare' });
    expect(failed.data).toHaveLength(50);
    expect(failed.next).toBeNull();
    expect((await listCalls(db, slug, { status: '5xx' })).next).toBeNull();
  });

  it('meets no call twice and misses none on its way back', async () => {
    const ids = new Set<string>();
    let after: string | undefined;
    for (;;) {
      const { data, next } = await listCalls(db, slug, {
        status: '4xx',
        limit: 500,
        ...(after ? { after } : {}),
      });
      for (const call of data) ids.add(call.id);
      if (next === null) break;
      after = next;
    }
    expect(ids.size).toBe(all / 10);
  });

  it('counts what it finds when asked, and says "more" instead of counting on', async () => {
    const count = async (input: Record<string, unknown>) =>
      (await listCalls(db, slug, { ...input, limit: 1, count: true })).count;
    expect(await count({})).toEqual({ calls: mostCounted, cost: null, more: true });
    expect(await count({ status: '4xx' })).toEqual({ calls: all / 10, cost: '0', more: false });
    expect(await count({ model: 'rare' })).toEqual({ calls: 0, cost: null, more: true });
    expect(await count({ model: 'rare', status: '429' })).toEqual({ calls: 50, cost: '0', more: false });
    expect(await listCalls(db, slug, { limit: 1 })).not.toHaveProperty('count');
  });
});

describe('a ranking of many calls (contract: call-log/ranking)', () => {
  beforeAll(async () => {
    // The highest n costs the most and the lowest is the slowest; every hundredth needed two targets.
    await db.pool.query(
      `UPDATE call SET cost_nano = n, latency_ms = $1::int - n,
        usage = json_build_object('input', n % 7, 'output', n),
        attempts = CASE WHEN n % 100 = 0 THEN '[["a",0,1],["b",1,1]]' ELSE '[["a",0,1]]' END::json
      FROM (SELECT id AS call, ('x' || right(id::text, 8))::bit(32)::int AS n FROM call) AS numbered
      WHERE call = id`,
      [all + 1],
    );
  });

  /** The n of calls. */
  const numbers = (calls: readonly { id: string }[]) =>
    calls.map(({ id }) => Number.parseInt(id.slice(-8), 16));

  it('has the first 1,000 in pages, and says what was looked at', async () => {
    const found: number[] = [];
    let after: string | null | undefined;
    do {
      const page = await listCalls(db, slug, { sort: '-cost', limit: 300, ...(after ? { after } : {}) });
      expect(page.ranked).toEqual({ calls: all, from: expect.any(String), all: true });
      found.push(...numbers(page.data));
      after = page.next;
    } while (after);
    expect(found).toEqual(Array.from({ length: 1_000 }, (_, at) => all - at));
  });

  it('is by latency or tokens too, and in both directions', async () => {
    const first = async (sort: string) => numbers((await listCalls(db, slug, { sort, limit: 1 })).data)[0];
    expect(await first('-latency')).toBe(1);
    expect(await first('latency')).toBe(all);
    expect(await first('tokens')).toBe(1);
    expect(await first('-tokens')).toBeGreaterThan(all - 7);
  });

  it('compares its filters with every call that it looks at', async () => {
    const { data } = await listCalls(db, slug, { sort: 'cost', model: 'rare', fellBack: true, limit: 500 });
    expect(numbers(data)).toEqual([100, 200, 300, 400, 500]);
  });
});
