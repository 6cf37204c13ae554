import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeCalls } from '#lib/control/billing/close';
import { verifyLedger } from '#lib/control/billing/verify';
import { showCall } from '#lib/control/operations/call/operations';
import { ControlRefused } from '#lib/control/operations/refusal';
import { setWorkspace } from '#lib/control/operations/workspace/operations';
import { deleteHidden } from '#lib/control/retention/delete-hidden';
import { dayMs } from '#lib/control/retention/weeks';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import { settle } from '#lib/gateway/settlement/settle';
import { idFloor } from '#lib/platform/ids';
import { bothDatabases, type Stage } from '#tests/gateway/settlement/both-databases';
import { findCall, listCalls, operate } from '#tests/support/control/operate';
import { type Customer, callOf, closeOf, createCustomer, newId } from '#tests/support/settlement';

const nowMs = Date.now();
const goOn = () => false;

describe.each(bothDatabases)('calls beyond the days of their workspace on $name', ({ open }) => {
  let stage: Stage;
  let customer: Customer;
  let slug: string;

  /** Settles a call that is `days` old. @returns its id. */
  async function log(days: number, given: Partial<CallRecord> = {}, owner = customer): Promise<string> {
    const atMs = nowMs - days * dayMs;
    const id = idFloor(atMs).replace('-0000-0000-', '-7abc-8abc-').slice(0, -12) + newId().slice(-12);
    await settle(stage.db.pool, newId(), [closeOf(callOf(owner, { id, atMs, ...given }))]);
    return id;
  }
  const stored = async (workspaceId = customer.workspaceId) => {
    const found = await stage.db.pool.query<{ id: string }>(
      'SELECT id::text AS id FROM call WHERE workspace_id = $1 ORDER BY id',
      [workspaceId],
    );
    return found.rows.map((row) => row.id);
  };
  const set = (retentionDays: number | null) =>
    operate(stage.db, setWorkspace, { workspace: slug, retentionDays });

  beforeAll(async () => {
    stage = await open();
    customer = await createCustomer(stage.db.pool);
    slug = `w-${customer.workspaceId}`;
  });
  afterAll(() => stage.close());

  it('are hidden at once in every read, and come back with more days', async () => {
    const [old, kept] = [await log(8), await log(6)];
    await set(7);
    const shown = await listCalls(stage.db, slug);
    expect(shown.data.map((call) => call.id)).toEqual([kept]);
    expect((await listCalls(stage.db, slug, { id: old })).data).toEqual([]);
    expect(await findCall(stage.db, old)).toBeNull();
    await expect(operate(stage.db, showCall, { workspace: slug, id: old })).rejects.toThrow(ControlRefused);
    expect(await findCall(stage.db, kept)).toMatchObject({ id: kept });
    await set(null);
    expect(await findCall(stage.db, old)).toMatchObject({ id: old });
    expect((await listCalls(stage.db, slug)).data).toHaveLength(2);
  });

  it.each([0, -1, 1.5, '7'])('are not chosen by %j days', async (days) => {
    await expect(
      operate(stage.db, setWorkspace, { workspace: slug, retentionDays: days }),
    ).rejects.toMatchObject({
      field: 'retentionDays',
    });
  });

  it('are deleted in batches, each shown once to what comes before its end, and no others', async () => {
    const other = await createCustomer(stage.db.pool);
    const others = [await log(300, {}, other), await log(8, {}, other)];
    // More than one batch; times apart, so that ids differ.
    const entries = Array.from({ length: 1_200 }, (_, n) => {
      const id = `${idFloor(nowMs - 20 * dayMs + n).slice(0, -12)}${newId().slice(-12)}`;
      return closeOf(callOf(customer, { id, atMs: nowMs - 20 * dayMs + n }));
    });
    await settle(stage.db.pool, newId(), entries);
    const before = await stored();
    await set(7);
    const seen: string[] = [];
    const note: typeof closeCalls = async (client, { workspaceId, fromId, toId, ids }) => {
      const { rows } = await client.query<{ id: string }>(
        `SELECT id::text AS id FROM call WHERE workspace_id = $1 AND id >= $2 AND id < $3 AND id = ANY ($4::uuid[])`,
        [workspaceId, fromId, toId, ids],
      );
      seen.push(...rows.map((row) => row.id));
      await closeCalls(client, { workspaceId, fromId, toId, ids });
    };
    await Promise.all([1, 2].map(() => deleteHidden(stage.db.pool, nowMs, note, goOn)));
    // A process that found the other one at work has left the rest to it, or to the next round.
    await deleteHidden(stage.db.pool, nowMs, note, goOn);
    const left = await stored();
    expect(left).toHaveLength(1);
    expect([...seen].sort()).toEqual(before.filter((id) => !left.includes(id)));
    expect(await stored(other.workspaceId)).toEqual(others.sort());
    await set(null);
  });

  it('leave the books whole: what was deleted is booked, and the ledger agrees', async () => {
    const paid = await Promise.all([12, 11, 10, 2].map((days) => log(days, { costNano: 500n })));
    await set(7);
    await deleteHidden(stage.db.pool, nowMs, closeCalls, goOn);
    expect(await stored()).not.toContain(paid[0]);
    const { checks } = await verifyLedger(stage.db);
    expect(checks.filter(({ rows }) => rows.length > 0)).toEqual([]);
    await set(null);
  });

  it('stay, hidden, as long as a later report may correct what was charged', async () => {
    const estimated = await log(8, { usageSource: 'estimated' });
    const tooOld = await log(36, { usageSource: 'estimated' });
    await set(7);
    await deleteHidden(stage.db.pool, nowMs, closeCalls, goOn);
    const left = await stored();
    expect(left).toContain(estimated);
    expect(left).not.toContain(tooOld);
    expect(await findCall(stage.db, estimated)).toBeNull();
    await set(null);
  });

  it('stay when what comes before their end fails, and go in the next round', async () => {
    const old = await log(9);
    await set(7);
    const failing: typeof closeCalls = () => Promise.reject(new Error('the sums differ'));
    await expect(deleteHidden(stage.db.pool, nowMs, failing, goOn)).rejects.toThrow('the sums differ');
    expect(await stored()).toContain(old);
    await deleteHidden(stage.db.pool, nowMs, closeCalls, goOn);
    expect(await stored()).not.toContain(old);
    const kept = await stage.db.pool.query<{ kept: string }>(
      'SELECT calls_kept_from::text AS kept FROM workspace WHERE id = $1',
      [customer.workspaceId],
    );
    expect(kept.rows[0]?.kept).toBe(idFloor(nowMs - 7 * dayMs));
  });
});
