import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import { type UsageReport, usageOf } from '#lib/core/metering/usage';
import { AdjustmentStore } from '#lib/gateway/jobs/adjustments/adjustment-store';
import type { FlaggedCharge } from '#lib/gateway/metrics/charge-flags';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import { settle } from '#lib/gateway/settlement/settle';
import { type Db, openDb } from '#lib/platform/data/db';
import { createFilledDatabase } from '#tests/support/database';
import { callOf, closeOf, createCustomer, newId } from '#tests/support/settlement';

let database: Awaited<ReturnType<typeof createFilledDatabase>>;
let db: Db;
let priceVersionId = '';
beforeAll(async () => {
  database = await createFilledDatabase();
  db = openDb(database.url, { onError: () => {} });
  const { rows } = await db.pool.query<{ id: string }>(
    `SELECT v.id FROM price_version v JOIN offer o ON o.id = v.offer_id
     WHERE o.model_id = 'sandbox/echo' AND o.provider_id = 'sandbox'`,
  );
  priceVersionId = rows[0]?.id ?? '';
});
afterAll(async () => {
  const { checks } = await verifyLedger(db);
  expect(checks.filter((check) => check.rows.length > 0)).toEqual([]);
  await db.close();
  await database.drop();
});

const store = () => new AdjustmentStore(db.pool, () => []);
/** 100 tokens in, 1,000 out at $1 and $4 a million. */
const report: UsageReport = {
  usage: usageOf({ input: 100, output: 1_000 }),
  serviceTier: null,
  nested: [],
  flags: [],
};
const FAIR_NANO = 100n * 1_000n + 1_000n * 4_000n;

/** A call whose estimate came to so many tokens of input. */
function estimated(customer: { workspaceId: string; keyId: string }, tokens: number, more: object = {}) {
  const costNano = BigInt(tokens) * 1_000n;
  return callOf(customer, {
    costNano,
    usage: usageOf({ input: tokens }),
    lines: [{ class: 'input', quantity: tokens, unitPriceNano: 1_000_000_000n }],
    usageSource: 'estimated',
    endReason: 'client_gone',
    answeringModel: 'sandbox/echo',
    provider: 'sandbox',
    holdNano: 10_000_000n,
    priceVersionId,
    ...more,
  });
}

const post = (call: CallRecord) => settle(db.pool, newId(), [closeOf(call, 'none')]);
const madeBy = ({ id, workspaceId }: CallRecord) => ({
  callId: id,
  workspaceId,
  providerId: 'sandbox',
  family: 'responses' as const,
});

async function amounts(callId: string): Promise<bigint[]> {
  const { rows } = await db.pool.query(
    `SELECT amount_nano::text AS amount FROM ledger_line WHERE kind = 'adjustment' AND ref = $1`,
    [callId],
  );
  return rows.map((row) => BigInt(row.amount));
}

async function balanceOf(workspaceId: string): Promise<bigint> {
  const { rows } = await db.pool.query('SELECT balance_nano::text AS balance FROM workspace WHERE id = $1', [
    workspaceId,
  ]);
  return BigInt(rows[0].balance);
}

describe('the usage of a stored response that is reported after its call was charged by estimate (contract: money/late-usage)', () => {
  it('settles the difference once, however many processes see it at a time', async () => {
    const customer = await createCustomer(db.pool);
    const before = await balanceOf(customer.workspaceId);
    const call = estimated(customer, 300);
    await post(call);
    const [first, second] = [store(), store()];
    const seen = Array.from({ length: 10 }, (_, at) =>
      (at % 2 === 0 ? first : second).settle(madeBy(call), report, Date.now()),
    );
    expect(await Promise.all(seen)).toEqual(Array.from({ length: 10 }, () => 'done'));
    expect(await amounts(call.id)).toEqual([300_000n - FAIR_NANO]);
    expect(before - (await balanceOf(customer.workspaceId))).toBe(FAIR_NANO);
  });

  it('refunds what the estimate had overcharged', async () => {
    const customer = await createCustomer(db.pool);
    const before = await balanceOf(customer.workspaceId);
    const call = estimated(customer, 9_000);
    await post(call);
    await store().settle(madeBy(call), report, Date.now());
    expect(await amounts(call.id)).toEqual([9_000_000n - FAIR_NANO]);
    expect(before - (await balanceOf(customer.workspaceId))).toBe(FAIR_NANO);
  });

  it('waits for a call whose row is still in a journal', async () => {
    const customer = await createCustomer(db.pool);
    const call = estimated(customer, 300);
    expect(await store().settle(madeBy(call), report, Date.now())).toBe('waits');
    expect(await store().settleWaiting(Date.now())).toBe(true);
    expect(await amounts(call.id)).toEqual([]);
    await post(call);
    // Another process: the one that saw it may be dead.
    expect(await store().settleWaiting(Date.now())).toBe(false);
    expect(await amounts(call.id)).toEqual([300_000n - FAIR_NANO]);
    await post(call);
    expect(await store().settle(madeBy(call), report, Date.now())).toBe('done');
    expect(await amounts(call.id)).toHaveLength(1);
  });

  it('changes nothing where the call was charged as reported after all', async () => {
    const customer = await createCustomer(db.pool);
    const call = estimated(customer, 300, { usageSource: 'reported', endReason: 'completed' });
    expect(await store().settle(madeBy(call), report, Date.now())).toBe('waits');
    await post(call);
    expect(await store().settleWaiting(Date.now())).toBe(false);
    expect(await store().settle(madeBy(call), report, Date.now())).toBe('done');
    expect(await amounts(call.id)).toEqual([]);
  });

  it('charges a call that had cost nothing, and one that was interrupted', async () => {
    const customer = await createCustomer(db.pool);
    const nothing = { costNano: 0n, lines: [], usage: usageOf({}), usageSource: 'none' };
    for (const endReason of ['upstream_error', 'interrupted']) {
      const call = estimated(customer, 0, { ...nothing, endReason });
      await post(call);
      await store().settle(madeBy(call), report, Date.now());
      expect(await amounts(call.id)).toEqual([-FAIR_NANO]);
    }
  });

  it('never charges a strict workspace above the hold', async () => {
    const customer = await createCustomer(db.pool);
    await db.pool.query('UPDATE workspace SET strict = true WHERE id = $1', [customer.workspaceId]);
    const call = estimated(customer, 300, { holdNano: 1_000_000n });
    await post(call);
    await store().settle(madeBy(call), report, Date.now());
    expect(await amounts(call.id)).toEqual([300_000n - 1_000_000n]);
  });

  it('is bounded by what its model can do, and reported to the operator', async () => {
    const customer = await createCustomer(db.pool);
    const call = estimated(customer, 300);
    await post(call);
    const told: FlaggedCharge[] = [];
    const claimed = { ...report, usage: usageOf({ output: 1e12 }) };
    const telling = new AdjustmentStore(
      db.pool,
      () => [],
      (charge) => told.push(charge),
    );
    await telling.settle(madeBy(call), claimed, Date.now());
    const most = BigInt((65_536 * 10 * 11) / 10) * 4_000n;
    expect(await amounts(call.id)).toEqual([300_000n - most]);
    expect(told).toMatchObject([{ callId: call.id, provider: 'sandbox', flags: ['usage_anomaly'] }]);
  });

  it('counts towards the quota of its key, and its leases are asked back', async () => {
    const customer = await createCustomer(db.pool, { quotaNano: 4_000_000n });
    const call = estimated(customer, 300);
    await post(call);
    await store().settle(madeBy(call), report, Date.now());
    const { rows } = await db.pool.query(
      `SELECT quota_exhausted AS exhausted, spent_nano::text AS spent,
        (SELECT count(*)::int FROM change WHERE subject = 'workspace:' || workspace_id) AS recalls
       FROM api_key WHERE id = $1`,
      [customer.keyId],
    );
    expect(rows).toEqual([{ exhausted: true, spent: `${FAIR_NANO}`, recalls: 1 }]);
  });

  it('is not the price of a job that runs', async () => {
    const customer = await createCustomer(db.pool);
    const call = estimated(customer, 0, { costNano: 0n, lines: [], usage: usageOf({}), usageSource: 'none' });
    await post(call);
    await db.pool.query(
      `INSERT INTO job (call_id, workspace_id, key_id, family, kind, upstream_id, provider_id, model_id,
        upstream_model, offer_id, price_version_id, hold_nano, facts, state, created_at, next_poll_at, flags)
       VALUES ($1, $2, $3, 'responses', 'response', 'resp_1', 'sandbox', 'sandbox/echo', 'echo', $4, $4, 0, '{}',
        'running', now(), now(), '{}')`,
      [call.id, customer.workspaceId, customer.keyId, priceVersionId],
    );
    await db.pool.query(
      `INSERT INTO hold (call_id, workspace_id, key_id, amount_nano, admitted_at)
       SELECT call_id, workspace_id, key_id, hold_nano, created_at FROM job WHERE call_id = $1`,
      [call.id],
    );
    expect(await store().settle(madeBy(call), report, Date.now())).toBe('open');
    expect(await amounts(call.id)).toEqual([]);
  });

  it('is settled although an older report fails each time; that one is logged and retried later', async () => {
    const customer = await createCustomer(db.pool);
    const [damaged, sound] = [estimated(customer, 300), estimated(customer, 300)];
    await store().settle(madeBy(damaged), report, Date.now());
    await store().settle(madeBy(sound), report, Date.now());
    await db.pool.query(`UPDATE adjustment SET report = '{}', seen_at = 'epoch' WHERE call_id = $1`, [
      damaged.id,
    ]);
    await post(damaged);
    await post(sound);
    const told: (string | null)[] = [];
    const telling = new AdjustmentStore(
      db.pool,
      () => [],
      undefined,
      (_, callId) => told.push(callId),
    );
    const startMs = Date.now();
    expect(await telling.settleWaiting(startMs)).toBe(true);
    expect(await amounts(sound.id)).toEqual([300_000n - FAIR_NANO]);
    await telling.settleWaiting(startMs + 60_000);
    expect(told).toEqual([damaged.id]);
    await telling.settleWaiting(startMs + 600_000);
    expect(told).toEqual([damaged.id, damaged.id]);
    await db.pool.query('DELETE FROM adjustment WHERE call_id = $1', [damaged.id]);
  });

  it('is settled although many older ones wait for jobs that run', async () => {
    const customer = await createCustomer(db.pool);
    const running = Array.from({ length: 100 }, () => estimated(customer, 300));
    const call = estimated(customer, 300);
    await store().settle(madeBy(call), report, Date.now());
    await settle(
      db.pool,
      newId(),
      [...running, call].map((one) => closeOf(one, 'none')),
    );
    const ids = running.map(({ id }) => id);
    await db.pool.query(
      `INSERT INTO job (call_id, workspace_id, key_id, family, kind, upstream_id, provider_id, model_id,
        upstream_model, offer_id, price_version_id, hold_nano, facts, state, created_at, next_poll_at, flags)
       SELECT id, $2, $3, 'responses', 'response', id::text, 'sandbox', 'sandbox/echo', 'echo', $4, $4, 0, '{}',
        'running', now(), now(), '{}' FROM unnest($1::uuid[]) AS id`,
      [ids, customer.workspaceId, customer.keyId, priceVersionId],
    );
    await db.pool.query(
      `INSERT INTO adjustment (call_id, workspace_id, report, seen_at, flags)
       SELECT id, $2, '{}', 'epoch', '{}' FROM unnest($1::uuid[]) AS id`,
      [ids, customer.workspaceId],
    );
    await store().settleWaiting(Date.now());
    expect(await amounts(call.id)).toEqual([300_000n - FAIR_NANO]);
    await db.pool.query('DELETE FROM adjustment WHERE call_id = ANY ($1)', [ids]);
    await db.pool.query('DELETE FROM job WHERE call_id = ANY ($1)', [ids]);
  });
});
