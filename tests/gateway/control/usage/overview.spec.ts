import { describe, expect, it } from 'vitest';
import { showOverview } from '#lib/control/operations/overview/operations';
import { settle } from '#lib/gateway/settlement/settle';
import { createKey, createWorkspace, operate } from '#tests/support/control/operate';
import { spendAgo } from '#tests/support/control/spend';
import { openOwnDatabase } from '#tests/support/postgres/own-database';
import { callOf, closeOf, createCustomer, newId } from '#tests/support/settlement';

const db = await openOwnDatabase();

const overview = (workspace: string) => operate(db, showOverview, { workspace });

describe('the overview of a workspace', () => {
  it('tells of one that never called that there is nothing to tell', async () => {
    const { slug } = await createWorkspace(db, { name: 'New', credit: '5' });
    expect(await overview(slug)).toEqual({
      called: false,
      available: '5',
      held: '0',
      simulated: '0',
      topUpsPaused: null,
      month: expect.objectContaining({ spent: '0', forecast: null, budget: null }),
      lowBalance: null,
      perDay: '0',
      daysLeft: null,
      caps: [],
      offers: [],
    });
  });

  it('tells how long the money lasts at the pace of the last seven days', async () => {
    const customer = await createCustomer(db.pool, { balanceNano: 100_000_000_000n });
    const call = callOf(customer, { costNano: 14_000_000_000n });
    await settle(db.pool, newId(), [closeOf(call, 'none')]);
    const found = await overview(`w-${customer.workspaceId}`);
    expect(found).toMatchObject({ called: true, available: '86', perDay: '2', daysLeft: 43 });
  });

  it('names the caps and quotas of which four fifths are used, the fullest first, of keys in use alone', async () => {
    const { id, slug } = await createWorkspace(db, { name: 'Caps' });
    const key = (given: Record<string, unknown>) => createKey(db, { workspace: slug, name: 'k', ...given });
    const spend = (keyId: string, dollars: number) =>
      spendAgo(db.pool, keyId, 0, BigInt(dollars * 1_000_000_000));
    const near = await key({ name: 'near', dailyCap: '10', d30Cap: '100' });
    await spend(near.id, 8);
    const full = await key({ name: 'full', quota: '2' });
    await db.pool.query('UPDATE api_key SET spent_nano = 2500000000 WHERE id = $1', [full.id]);
    const far = await key({ name: 'far', d7Cap: '10' });
    await spend(far.id, 7.9);
    const gone = await key({ name: 'gone', dailyCap: '1' });
    await spend(gone.id, 5);
    await db.pool.query(`UPDATE api_key SET status = 'revoked' WHERE id = $1`, [gone.id]);
    expect((await overview(slug)).caps).toEqual([
      { key: full.id, name: 'full', span: 'quota', spent: '2.5', cap: '2', used: 1.25 },
      { key: near.id, name: 'near', span: 'day', spent: '8', cap: '10', used: 0.8 },
    ]);
    const other = await createWorkspace(db, { name: 'Other' });
    expect(other.id).not.toBe(id);
    expect((await overview(other.slug)).caps).toEqual([]);
  });
});
