import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reconcileInTurn } from '#lib/control/billing/reconcile/hourly';
import { reconcile } from '#lib/control/billing/reconcile/reconcile';
import { postLine } from '#lib/gateway/ledger/post-line';
import {
  balanceOf,
  copyOf,
  newWorkspace,
  openShop,
  order,
  type Shop,
  spend,
  take,
} from '#tests/gateway/billing/account';
import { startStripe } from '#tools/sandbox/payments/server';

const usd = 1_000_000_000n;
let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

const run = (of: Shop) => reconcile(of.db.pool, of.payments, Date.now());

describe('reconciling with Stripe (contract: money/reconcile)', () => {
  it('credits and debits what no webhook reported, once, until nothing differs', async () => {
    const { account } = shop.server;
    const { id, slug } = await newWorkspace(shop);
    for (let at = 0; at < 60; at++) {
      const { session } = await order(shop, slug, '10');
      account.pay(session);
      if (at % 4 === 0) account.refund(session.payment_intent ?? '', 250);
    }
    // Some had come before.
    for (const event of account.events.slice(0, 20)) await take(shop, event);
    const first = await run(shop);
    expect(first).toMatchObject({ checked: 135 + 60, driftNano: 0n, lost: [] });
    expect(first.credited).toBeGreaterThan(50);
    expect(await balanceOf(shop, id)).toBe(600n * usd - (75n * usd) / 2n);
    expect(await run(shop)).toMatchObject({ credited: 0, driftNano: 0n });
  });

  it('brings a database that lacks the orders up to what Stripe has', async () => {
    const { id, slug } = await newWorkspace(shop);
    const { session } = await order(shop, slug, '50');
    shop.server.account.pay(session);
    await run(shop);
    const older = await openShop(shop.server);
    for (const one of await shop.db.prisma.workspace.findMany()) {
      await older.db.prisma.workspace.create({ data: { id: one.id, slug: one.slug, name: one.name } });
    }
    expect(await run(older)).toMatchObject({ driftNano: 0n });
    expect(await balanceOf(older, id)).toBe(50n * usd);
    await older.close();
  });

  it('posts what no event reported, and names the differences', async () => {
    const { id, slug } = await newWorkspace(shop);
    const { session } = await order(shop, slug, '10');
    shop.server.account.pay(session);
    const lost = shop.server.account.events.splice(-2);
    expect(lost).toHaveLength(2);
    // Stripe's list has the payment all the same.
    expect(await run(shop)).toMatchObject({ credited: 1, driftNano: 0n });
    const line = {
      kind: 'refund' as const,
      ref: `${session.payment_intent}:100`,
      amountNano: -usd,
      reason: null,
    };
    await postLine(shop.db.pool, { workspaceId: id, ...line });
    expect(await run(shop)).toMatchObject({
      driftNano: usd,
      differences: [{ paymentIntent: session.payment_intent, dueNano: 10n * usd, postedNano: 9n * usd }],
    });
  });

  it('finds nothing that differs after three days without webhooks', async () => {
    let nowSeconds = Math.floor(Date.now() / 1000) - 40 * 86_400;
    const quiet = await openShop(await startStripe({ nowSeconds: () => nowSeconds }));
    const { account } = quiet.server;
    const { id, slug } = await newWorkspace(quiet);
    const pay = async (dollars: string) => {
      const { session } = await order(quiet, slug, dollars);
      account.pay(session);
      return session.payment_intent ?? '';
    };
    const old = await pay('100');
    for (const event of account.events.splice(0)) await take(quiet, event);
    nowSeconds += 37 * 86_400;
    const paid = [await pay('10'), await pay('20'), await pay('30')];
    // What Stripe's events do not tell after 30 days, its lists do.
    account.refund(old, 2_500);
    account.dispute(old, 'won', 5_000);
    account.dispute(paid[0] ?? '', 'lost');
    account.refund(paid[1] ?? '', 500);
    account.dispute(paid[2] ?? '', null, 1_000);
    account.events.splice(0, 5);
    nowSeconds += 3 * 86_400;
    const first = await run(quiet);
    expect(first).toMatchObject({ driftNano: 0n, differences: [] });
    expect(await balanceOf(quiet, id)).toBe((100n - 25n + 0n + 15n + 20n) * usd);
    expect(await run(quiet)).toMatchObject({ credited: 0, driftNano: 0n });
    await quiet.server.close();
    await quiet.close();
  });

  it('reconciling after a restore credits the payments since the copy, and lists what was spent', async () => {
    const server = await startStripe();
    const original = await openShop(server);
    const { id, slug } = await newWorkspace(original);
    const other = await newWorkspace(original);
    for (const place of [slug, other.slug]) server.account.pay((await order(original, place, '20')).session);
    await run(original);
    await spend(original, id, 3);
    await run(original);
    const copy = await copyOf(original);
    server.account.pay((await order(original, slug, '50')).session);
    await run(original);
    await spend(original, id, 7);
    await spend(original, other.id, 1);
    await run(original);
    expect(await balanceOf(original, id)).toBe(60n * usd);
    const restored = await run(copy);
    expect(restored).toMatchObject({ driftNano: 0n });
    expect(await balanceOf(copy, id)).toBe(67n * usd);
    const named = restored.lost.map(({ workspace, nano }) => [workspace, nano]);
    expect(new Map(named as [string, bigint][])).toEqual(
      new Map([
        [slug, 7n * usd],
        [other.slug, 1n * usd],
      ]),
    );
    // Once, and not again for what is spent later.
    await spend(copy, id, 2);
    expect((await run(copy)).lost).toHaveLength(2);
    await copy.close();
    await original.close();
    await server.close();
  });

  it('is one process’s turn once an hour', async () => {
    const parts = { pool: shop.db.pool, payments: shop.payments, changed: () => {}, report: () => {} };
    const turns = await Promise.all(Array.from({ length: 6 }, () => reconcileInTurn(parts)));
    expect(turns.filter((one) => one !== null)).toHaveLength(1);
    expect(await reconcileInTurn(parts)).toBeNull();
    await shop.db.pool.query("UPDATE fleet_duty SET done_at = now() - interval '61 minutes'");
    expect(await reconcileInTurn(parts)).toMatchObject({ credited: 0 });
  });
});
