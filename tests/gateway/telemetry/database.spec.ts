import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { interrupt } from '#lib/gateway/settlement/interrupt';
import { settle } from '#lib/gateway/settlement/settle';
import { EXPORT_FOLDER } from '#lib/programs/telemetry/export-files';
import { shelveInterrupted } from '#lib/programs/telemetry/interrupted';
import { LateCharges } from '#lib/programs/telemetry/late-charges';
import { readEnds } from '#lib/programs/telemetry/read-calls';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import {
  type Customer,
  callOf,
  closeOf,
  createCustomer,
  newDirectory,
  newId,
  openOf,
} from '#tests/support/settlement';

let database: TestDatabase;
let pool: Pool;
let customer: Customer;
beforeAll(async () => {
  database = await createDatabase();
  pool = new Pool({ connectionString: database.url });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  customer = await createCustomer(pool);
});

describe('calls that a killed process left open', () => {
  it('are kept for the exporter as the log has them, but for those that had ended', async () => {
    const [dir, ownerId] = [newDirectory(), newId()];
    const [cut, ended] = [callOf(customer), callOf(customer)];
    const ends = [cut, ended].map((call) => interrupt(openOf(call), null));
    await settle(pool, ownerId, [closeOf(ended), ...ends.slice(0, 1)]);
    await shelveInterrupted(pool, dir, ownerId, ends);
    const path = join(dir, EXPORT_FOLDER, `${ownerId}-interrupted.log`);
    const found = [...readEnds(path, 0, 1_000_000)].flatMap(({ call }) => call ?? []);
    expect(found.map(({ id, endReason, status }) => ({ id, endReason, status }))).toEqual([
      { id: cut.id, endReason: 'interrupted', status: 500 },
    ]);
  });

  it('leave nothing behind when all had ended', async () => {
    const [dir, ownerId] = [newDirectory(), newId()];
    const ended = callOf(customer);
    await settle(pool, ownerId, [closeOf(ended)]);
    await shelveInterrupted(pool, dir, ownerId, [interrupt(openOf(ended), null)]);
    expect(existsSync(join(dir, EXPORT_FOLDER, `${ownerId}-interrupted.log`))).toBe(false);
  });
});

describe('charges that come after their calls', () => {
  const nowMs = Date.UTC(2026, 10, 22, 12);
  const at = (seconds: number) => new Date(nowMs + seconds * 1000).toISOString();

  async function settleJob(seconds: number, costNano: number): Promise<string> {
    const callId = newId();
    await pool.query(
      `INSERT INTO job (call_id, workspace_id, key_id, family, kind, upstream_id, provider_id, model_id,
         upstream_model, offer_id, price_version_id, hold_nano, facts, state, created_at, settled_at, cost_nano,
         usage, usage_source, flags)
       VALUES ($1, $2, $3, 'videos', 'video', 'up', 'openai', 'openai/sora', 'sora', $4, $4, 0, '{}', 'completed',
         $5, $6, $7, '{"videoSeconds": 8}', 'reported', '{job_lost}')`,
      [callId, customer.workspaceId, customer.keyId, newId(), at(seconds - 60), at(seconds), costNano],
    );
    return callId;
  }

  it('are sent once each: jobs with their usage, adjustments with their difference', async () => {
    const late = new LateCharges(pool, nowMs);
    const job = await settleJob(1, 800);
    const adjusted = newId();
    await pool.query(
      `INSERT INTO adjustment (call_id, workspace_id, report, seen_at, settled_at, amount_nano, more, flags)
       VALUES ($1, $2, '{}', $3, $3, -5, '{"output": -20}', '{}')`,
      [adjusted, customer.workspaceId, at(2)],
    );
    const first = await late.read();
    const mine = first.charges.filter(({ workspaceId }) => workspaceId === customer.workspaceId);
    expect(mine).toMatchObject([
      {
        kind: 'job',
        callId: job,
        keyId: customer.keyId,
        provider: 'openai',
        model: 'openai/sora',
        operation: 'videos.create',
        state: 'completed',
        startMs: nowMs - 59_000,
        settledMs: nowMs + 1000,
        costNano: 800n,
        usage: { videoSeconds: 8 },
        usageSource: 'reported',
        flags: ['job_lost'],
      },
      {
        kind: 'adjustment',
        callId: adjusted,
        keyId: null,
        settledMs: nowMs + 2000,
        costNano: -5n,
        usage: { output: -20 },
      },
    ]);
    late.told(first.charges, first.toMs);
    expect((await late.read()).charges).toEqual([]);
  });

  it('are sent although they commit late, and again after a restart before they were confirmed', async () => {
    const late = new LateCharges(pool, nowMs);
    await settleJob(100, 1);
    const first = await late.read();
    const overdue = await settleJob(70, 2);
    late.told(first.charges, first.toMs);
    const second = await late.read();
    expect(second.charges.map(({ callId }) => callId)).toEqual([overdue]);
    const restarted = new LateCharges(pool, first.toMs);
    const again = (await restarted.read()).charges.map(({ callId }) => callId);
    expect(again).toContain(overdue);
  });
});
