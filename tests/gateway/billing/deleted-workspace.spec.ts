import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closePages } from '#lib/control/billing/payments/pages/close';
import { ask } from '#lib/control/operations/run';
import { deleteWorkspace } from '#lib/control/operations/workspace/delete';
import {
  balanceOf,
  newWorkspace,
  openShop,
  operator,
  order,
  type Shop,
  takeAll,
} from '#tests/gateway/billing/account';

const usd = 1_000_000_000n;
let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

/** A deleted workspace with a page at Stripe on which a top-up of $20 could still be paid. */
async function deletedWithOpenPage() {
  const { id, slug } = await newWorkspace(shop);
  const { topUp, session } = await order(shop, slug, '20');
  await ask(shop.host, deleteWorkspace, { actor: operator, workspace: slug, input: { confirm: slug } });
  return { id, topUp, session };
}

const statusOf = async (id: string) =>
  (await shop.db.prisma.topUp.findUniqueOrThrow({ where: { id } })).status;
const closing = () => closePages(shop.db.pool, shop.payments);
const expiries = (session: { id: string }) =>
  shop.server.asked.filter((asked) => asked === `POST /v1/checkout/sessions/${session.id}/expire`).length;

/** As if the orders had been taken long ago. */
const waitPassed = () => shop.db.prisma.topUp.updateMany({ data: { nextTryAt: new Date(0) } });

describe('a page to pay on whose workspace was deleted (contract: money/top-up-order)', () => {
  it('is closed at Stripe, once, however many processes see it', async () => {
    const { id, topUp, session } = await deletedWithOpenPage();
    await Promise.all([closing(), closing(), closing()]);
    expect(session).toMatchObject({ status: 'expired', url: null });
    expect(await statusOf(topUp.id)).toBe('expired');
    expect(expiries(session)).toBe(1);
    const paid = await fetch(`${shop.server.url}/pay/${session.id}`, {
      method: 'POST',
      body: new URLSearchParams({ how: 'pay' }),
      redirect: 'manual',
    });
    expect(paid.status).toBeLessThan(400);
    await takeAll(shop);
    expect(await balanceOf(shop, id)).toBe(0n);
  });

  it('stays open where the workspace is not deleted', async () => {
    const { slug } = await newWorkspace(shop);
    const { topUp, session } = await order(shop, slug, '20');
    await closing();
    expect([session.status, await statusOf(topUp.id)]).toEqual(['open', 'open']);
  });

  it('is closed later where Stripe does not answer', async () => {
    const { topUp, session } = await deletedWithOpenPage();
    shop.server.down = true;
    await expect(closing()).rejects.toThrow();
    shop.server.down = false;
    expect(await statusOf(topUp.id)).toBe('open');
    await waitPassed();
    await closing();
    expect([session.status, await statusOf(topUp.id)]).toEqual(['expired', 'expired']);
  });

  it('is known to be closed where the process ended before it could note that', async () => {
    const { topUp, session } = await deletedWithOpenPage();
    shop.server.account.expire(session);
    await closing();
    expect(await statusOf(topUp.id)).toBe('expired');
  });

  it('that was paid on before is credited, in the ledger that stays', async () => {
    const { id, topUp, session } = await deletedWithOpenPage();
    shop.server.account.pay(session);
    await closing();
    expect(await statusOf(topUp.id)).toBe('open');
    await takeAll(shop);
    expect([await statusOf(topUp.id), await balanceOf(shop, id)]).toEqual(['paid', 20n * usd]);
  });

  it('is forgotten where Stripe knows nothing of it', async () => {
    const { topUp, session } = await deletedWithOpenPage();
    shop.server.account.sessions.delete(session.id);
    await closing();
    expect(await statusOf(topUp.id)).toBe('expired');
  });
});
