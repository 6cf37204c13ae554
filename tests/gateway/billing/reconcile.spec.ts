import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reconcile } from '#lib/billing/payments/reconcile';
import { balanceOf, newWorkspace, openShop, order, type Shop, take } from '#tests/gateway/billing/account';

const usd = 1_000_000_000n;
let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

const run = (of: Shop) => reconcile(of.db.pool, of.payments, Date.now());

describe('reconciling with Stripe (contract: money/reconcile)', () => {
  it('credits and debits what no webhook told, once, until nothing differs', async () => {
    const { account } = shop.server;
    const { id, slug } = await newWorkspace(shop);
    for (let at = 0; at < 120; at++) {
      const { session } = await order(shop, slug, '10');
      account.pay(session);
      if (at % 4 === 0) account.refund(session.payment_intent ?? '', 250);
    }
    // Some had come before.
    for (const event of account.events.slice(0, 20)) await take(shop, event);
    const first = await run(shop);
    expect(first).toMatchObject({ checked: 270, driftNano: 0n });
    expect(first.credited).toBeGreaterThan(100);
    expect(await balanceOf(shop, id)).toBe(1_200n * usd - 75n * usd);
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

  it('tells what differs', async () => {
    const { slug } = await newWorkspace(shop);
    const { session } = await order(shop, slug, '10');
    shop.server.account.pay(session);
    const lost = shop.server.account.events.splice(-2);
    expect(lost).toHaveLength(2);
    expect(await run(shop)).toMatchObject({ driftNano: 10n * usd });
    shop.server.account.events.push(...lost);
    expect(await run(shop)).toMatchObject({ credited: 1, driftNano: 0n });
  });
});
