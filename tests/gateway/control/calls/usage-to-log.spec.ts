import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadUsageAddress, questionOf } from '#lib/console/usage/address';
import { logFiltersOf } from '#lib/console/usage/log-link';
import { mostCounted } from '#lib/control/operations/call/search';
import { rowsOfUsage, seriesOfUsage } from '#lib/control/operations/usage/operations';
import { seriesSplits } from '#lib/control/operations/usage/series';
import { parseUsd } from '#lib/core/money';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import { settle } from '#lib/gateway/settlement/settle';
import { type Db, openDb } from '#lib/platform/data/db';
import { idFloor } from '#lib/platform/ids';
import { createUser, listCalls, operate, setWorkspace } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { addKey, callOf, closeOf, createCustomer, newId } from '#tests/support/settlement';

const quarterMs = 900_000;
const dayMs = 86_400_000;
/** Where the calls begin: three days ago at 10:00 UTC, in the middle of a day of every zone that is asked for. */
const startMs = Math.floor(Date.now() / dayMs - 3) * dayMs + 10 * 3_600_000;
const iso = (ms: number) => new Date(ms).toISOString();
const range = { from: iso(startMs), to: iso(startMs + 2 * dayMs) };

let database: TestDatabase;
let db: Db;
let slug: string;

/** The id that a call admitted then has. */
const idAt = (atMs: number, n: number) =>
  `${idFloor(atMs).slice(0, 14)}7000-8000-${n.toString(16).padStart(12, '0')}`;

/** What the gateway answers itself, which no figure counts (contract: call-log/own-answers). */
const own = { answeringModel: null, provider: null, attempts: [], costNano: 0n } as const;
const ends: readonly Partial<CallRecord>[] = [
  {},
  {},
  {},
  {
    status: 429,
    endReason: 'refused',
    errorCode: 'workspace_rpm_exceeded',
    answeringModel: null,
    provider: null,
  },
  { status: 400, endReason: 'refused', errorCode: 'model_not_allowed', answeringModel: null, provider: null },
  {
    status: 502,
    endReason: 'upstream_error',
    errorCode: 'upstream_request_failed',
    answeringModel: null,
    provider: null,
  },
  { status: 200, endReason: 'timeout' },
  { status: 499, endReason: 'client_gone' },
  { status: 200, endReason: 'interrupted' },
  {},
  { ...own, family: 'models', operation: 'models.list', requestedModel: null },
  { ...own, family: 'models', operation: 'models.list', status: 429, endReason: 'refused' },
  { ...own, operation: 'messages.count_tokens' },
];

/** Calls of two days, of all models, providers, keys, ends and families; some were answered by another model. */
async function call(slot: { workspaceId: string; keyIds: readonly string[] }): Promise<void> {
  const models = ['a/one', 'a/two', 'b/three'];
  const calls = Array.from({ length: 900 }, (_, n) => {
    // Every tenth at the very start of a quarter of an hour, and every tenth at its very end.
    const roughMs = startMs - quarterMs + n * 200_007;
    const edgeMs = Math.floor(roughMs / quarterMs) * quarterMs;
    const atMs = n % 10 === 0 ? edgeMs : n % 10 === 1 ? edgeMs - 1 : roughMs;
    const end = ends[n % ends.length] ?? {};
    const model = models[n % 3] ?? '';
    return callOf(
      { workspaceId: slot.workspaceId, keyId: slot.keyIds[n % 2] ?? '' },
      {
        // An id is made a moment before the call's time is read.
        id: idAt(n % 10 === 0 ? atMs - 1 : atMs, n),
        atMs,
        costNano: end.endReason === 'refused' ? 0n : BigInt(1_000 + n),
        requestedModel: n % 5 === 0 ? 'alias' : model,
        answeringModel: model,
        provider: ['one', 'two'][n % 2] ?? null,
        family: ['chat', 'messages', 'responses'][n % 3] ?? '',
        ...end,
      },
    );
  });
  await settle(
    db.pool,
    newId(),
    calls.map((one) => closeOf(one, 'none')),
  );
}

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  const customer = await createCustomer(db.pool);
  slug = `w-${customer.workspaceId}`;
  await setWorkspace(db, { workspace: slug, timeZone: 'Asia/Kathmandu' });
  const second = newId();
  await addKey(db.pool, customer.workspaceId, second, null);
  const { id } = await createUser(db, { email: 'maker@example.com', password: 'long enough' });
  await db.pool.query('UPDATE api_key SET created_by = $1 WHERE id = $2', [id, second]);
  await call({ workspaceId: customer.workspaceId, keyIds: [customer.keyId, second] });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

/** What the log counts under the link of a figure. */
async function logged({ from, to, ...counted }: Parameters<typeof logFiltersOf>[0] & typeof range) {
  const filters = logFiltersOf(counted);
  if (filters === null) throw new Error('no filter finds these calls');
  return (await listCalls(db, slug, { ...filters, from, to, limit: 1, count: true })).count;
}

describe('a bar of usage (contract: call-log/roll-up)', () => {
  it.each(seriesSplits)('leads to exactly the calls that it counts, by %s', async (by) => {
    const found = await operate(db, seriesOfUsage, { workspace: slug, ...range, step: 'day', by });
    expect(found.starts).toHaveLength(3);
    let calls = 0;
    let costNano = 0n;
    for (const { value, points } of found.groups) {
      for (const [at, point] of points.entries()) {
        const from = found.starts[at] ?? '';
        const to = found.starts[at + 1] ?? found.to;
        const span = { from, to, by, value, filters: {} };
        const all = await logged({ ...span, errors: false });
        expect(all, `${value} from ${from}`).toEqual({ calls: point.calls, cost: point.cost, more: false });
        if (value !== 'ok') expect((await logged({ ...span, errors: true }))?.calls).toBe(point.errors);
        calls += point.calls;
        costNano += parseUsd(point.cost);
      }
    }
    expect(found.total.calls).toBe(calls);
    expect(parseUsd(found.cost)).toBe(costNano);
    expect(calls).toBeGreaterThan(500);
    const whole = await logged({ ...range, by: null, value: null, filters: {}, errors: false });
    expect(whole).toEqual({ calls, cost: found.cost, more: false });
    const everything = (await listCalls(db, slug, { ...range, limit: 1, count: true })).count;
    const uncounted = (await listCalls(db, slug, { ...range, usage: 'not-counted', limit: 1, count: true }))
      .count;
    expect(uncounted?.calls).toBeGreaterThan(100);
    expect(everything).toEqual({ calls: calls + (uncounted?.calls ?? 0), cost: found.cost, more: false });
  });

  it('leads there through the filters of its page too', async () => {
    const filters = { model: 'a/one', provider: 'two' };
    const found = await operate(db, seriesOfUsage, {
      workspace: slug,
      ...range,
      step: 'day',
      by: 'key',
      ...filters,
    });
    const { value, total } = found.groups[0] ?? { value: null, total: found.total };
    expect(total.calls).toBeGreaterThan(10);
    expect(await logged({ ...range, by: 'key', value, filters, errors: false })).toEqual({
      calls: total.calls,
      cost: total.cost,
      more: false,
    });
  });

  it('says how many calls there are where the log would not count them one by one', async () => {
    const { workspaceId, keyId } = await createCustomer(db.pool);
    const many = `w-${workspaceId}`;
    const atMs = startMs + quarterMs;
    const calls = Array.from({ length: mostCounted + 1 }, (_, n) =>
      callOf({ workspaceId, keyId }, { id: idAt(atMs, n), atMs, costNano: 7n }),
    );
    for (let from = 0; from < calls.length; from += 2_000)
      await settle(
        db.pool,
        newId(),
        calls.slice(from, from + 2_000).map((one) => closeOf(one, 'none')),
      );
    const count = async (given: Record<string, unknown>) =>
      (await listCalls(db, many, { ...range, ...given, limit: 1, count: true })).count;
    const all = { calls: mostCounted + 1, cost: '0.000070007', more: false };
    expect(await count({ countedModel: 'openai/gpt-4.1' })).toEqual(all);
    expect(await count({})).toEqual(all);
    expect(await count({ family: 'chat' })).toEqual({ calls: mostCounted, cost: null, more: true });
    await setWorkspace(db, { workspace: many, retentionDays: 2 });
    expect(await count({})).toEqual({ calls: 0, cost: '0', more: false });
  });
});

describe('days of another time zone', () => {
  it('move with the zone, and the total of a month stays what its calls are', async () => {
    const { workspaceId, keyId } = await createCustomer(db.pool);
    const own = `w-${workspaceId}`;
    const midnight = startMs - 10 * 3_600_000;
    // An hour before midnight in UTC it is the next day in Kathmandu.
    const moments = [midnight - 3_600_000, midnight + 3_600_000, midnight + 19 * 3_600_000];
    const calls = moments.map((atMs, n) =>
      callOf({ workspaceId, keyId }, { id: idAt(atMs, 700 + n), atMs, costNano: BigInt(10 ** n) }),
    );
    await settle(
      db.pool,
      newId(),
      calls.map((one) => closeOf(one, 'none')),
    );
    const days = async (timeZone: string) => {
      await setWorkspace(db, { workspace: own, timeZone });
      const question = questionOf(
        loadUsageAddress(new URLSearchParams('range=90d&step=day')),
        Date.now(),
        timeZone,
      );
      const found = await operate(db, seriesOfUsage, {
        workspace: own,
        ...question.timed,
        ...question.compared,
      });
      const costs = found.groups.flatMap(({ points }) => points.map(({ cost }) => cost));
      return { total: found.total.cost, costs: costs.filter((cost) => cost !== '0') };
    };
    const total = '0.000000111';
    expect(await days('UTC')).toEqual({ total, costs: ['0.000000001', '0.00000011'] });
    expect(await days('Asia/Kathmandu')).toEqual({ total, costs: ['0.000000011', '0.0000001'] });
  });
});

describe('a series without durations', () => {
  it('is the same one, and its total has them still', async () => {
    const asked = { workspace: slug, ...range, step: 'day', by: 'model' };
    const [whole, lean] = await Promise.all([
      operate(db, seriesOfUsage, asked),
      operate(db, seriesOfUsage, { ...asked, durations: false }),
    ]);
    expect(whole.total.latencyMs).not.toBeNull();
    expect([lean.total, lean.before.total]).toEqual([whole.total, whole.before.total]);
    const without = <P extends object>(point: P) => ({ ...point, latencyMs: null, firstByteMs: null });
    expect(lean.groups).toEqual(
      whole.groups.map((group) => ({
        ...group,
        total: without(group.total),
        points: group.points.map(without),
      })),
    );
  });
});

describe('usage read from the calls themselves (contract: call-log/by-outcome-and-family)', () => {
  it('adds up to what the sums say, tokens and quantiles too', async () => {
    const asked = { workspace: slug, ...range, step: 'day' };
    const [sums, calls] = await Promise.all([
      operate(db, rowsOfUsage, asked),
      operate(db, seriesOfUsage, { ...asked, by: 'family' }),
    ]);
    expect(calls.total).toEqual((await operate(db, seriesOfUsage, asked)).total);
    expect(sums.rows.map(({ calls }) => calls)).toEqual(
      calls.starts.map((_, at) =>
        calls.groups.reduce((sum, { points }) => sum + (points[at]?.calls ?? 0), 0),
      ),
    );
    expect(calls.groups.map(({ value }) => value).sort()).toEqual(['chat', 'messages', 'responses']);
  });

  it('counts with a call what its report corrected later, as the sums and the log do', async () => {
    const { workspaceId, keyId } = await createCustomer(db.pool);
    const own = `w-${workspaceId}`;
    const calls = [1, 2].map((n) =>
      callOf({ workspaceId, keyId }, { id: idAt(startMs, 800 + n), atMs: startMs, costNano: 1_000n }),
    );
    await settle(
      db.pool,
      newId(),
      calls.map((one) => closeOf(one, 'none')),
    );
    await db.pool.query(
      `INSERT INTO adjustment (call_id, workspace_id, report, seen_at, settled_at, flags, amount_nano, more)
       VALUES ($1, $2, '{}', now(), now(), '{}', -300, '{"output": 5}')`,
      [calls[0]?.id, workspaceId],
    );
    await db.pool.query(
      'UPDATE usage_quarter SET cost_nano = cost_nano - 300, output_tokens = output_tokens + 5 WHERE workspace_id = $1',
      [workspaceId],
    );
    const asked = { workspace: own, ...range, step: 'day' };
    const found = await operate(db, seriesOfUsage, { ...asked, by: 'family' });
    expect(found.total).toEqual((await operate(db, seriesOfUsage, asked)).total);
    expect(found.total).toMatchObject({ calls: 2, cost: '0.0000017', outputTokens: 11 });
    const { count } = await listCalls(db, own, { ...range, family: 'chat', limit: 1, count: true });
    expect(count).toEqual({ calls: 2, cost: '0.0000017', more: false });
  });

  it('is refused where the log no longer holds them', async () => {
    const { workspaceId, keyId } = await createCustomer(db.pool);
    const one = callOf({ workspaceId, keyId }, { id: idAt(startMs, 900), atMs: startMs });
    await settle(db.pool, newId(), [closeOf(one, 'none')]);
    const asked = { workspace: `w-${workspaceId}`, ...range, by: 'outcome' };
    expect((await operate(db, seriesOfUsage, asked)).total.calls).toBe(1);
    await db.pool.query('DELETE FROM call WHERE id = $1', [one.id]);
    await expect(operate(db, seriesOfUsage, asked)).rejects.toMatchObject({
      field: 'by',
      code: 'invalid_body',
    });
  });
});
