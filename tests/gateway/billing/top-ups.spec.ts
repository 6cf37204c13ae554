import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closePages } from '#lib/control/billing/payments/pages/close';
import { reconcile } from '#lib/control/billing/reconcile/reconcile';
import { ask } from '#lib/control/operations/run';
import { cancelTopUp, createTopUp, listTopUps, showTopUp } from '#lib/control/operations/top-up/operations';
import { openPortal } from '#lib/control/operations/top-up/portal';
import {
  balanceOf,
  newWorkspace,
  openShop,
  operator,
  order,
  type Shop,
  sessionOf,
  take,
  takeAll,
} from '#tests/gateway/billing/account';

const usd = 1_000_000_000n;
let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

describe('a top-up (contract: money/top-up-order)', () => {
  it('is an order before Stripe hears of it, and credits its amount once it is paid', async () => {
    const { id, slug } = await newWorkspace(shop);
    const { topUp, session } = await order(shop, slug, '20');
    expect(topUp).toMatchObject({ amount: '20', fee: '0', status: 'open', url: session.url });
    expect(session).toMatchObject({
      amount_total: 2_000,
      client_reference_id: topUp.id,
      metadata: { order: topUp.id, workspace: id },
    });
    expect(await balanceOf(shop, id)).toBe(0n);
    shop.server.account.pay(session);
    await takeAll(shop);
    expect(await balanceOf(shop, id)).toBe(20n * usd);
    const asked = { actor: operator, workspace: slug, input: { id: topUp.id } };
    expect(await ask(shop.host, showTopUp, asked)).toMatchObject({ status: 'paid', url: null });
  });

  it('says why the latest card was declined, until it is paid', async () => {
    const { slug } = await newWorkspace(shop);
    const { topUp, session } = await order(shop, slug, '20');
    const asked = { actor: operator, workspace: slug, input: { id: topUp.id } };
    shop.server.account.decline(session);
    await takeAll(shop);
    const declined = { status: 'open', url: session.url, failure: 'insufficient_funds' };
    expect(await ask(shop.host, showTopUp, asked)).toMatchObject(declined);
    shop.server.account.pay(session);
    await takeAll(shop);
    expect(await ask(shop.host, showTopUp, asked)).toMatchObject({ status: 'paid', failure: null });
  });

  it('can be canceled while it is open, which closes its page; what was paid is credited all the same', async () => {
    const { id, slug } = await newWorkspace(shop);
    const cancel = (topUpId: string) =>
      ask(shop.host, cancelTopUp, { actor: operator, workspace: slug, input: { id: topUpId } });
    const [left, unreached, paid] = [
      await order(shop, slug, '20'),
      await order(shop, slug, '7'),
      await order(shop, slug, '9'),
    ];
    expect(await cancel(left.topUp.id)).toMatchObject({ status: 'canceled', url: null });
    expect(left.session.status).toBe('expired');
    expect(await cancel(left.topUp.id)).toMatchObject({ status: 'canceled' });
    shop.server.down = true;
    expect(await cancel(unreached.topUp.id)).toMatchObject({ status: 'canceled', url: null });
    shop.server.down = false;
    await closePages(shop.db.pool, shop.payments);
    expect(unreached.session.status).toBe('expired');
    shop.server.account.pay(paid.session);
    expect(await cancel(paid.topUp.id)).toMatchObject({ status: 'canceled' });
    await takeAll(shop);
    expect(await balanceOf(shop, id)).toBe(9n * usd);
    await expect(cancel(paid.topUp.id)).rejects.toThrow('this top-up is paid');
  });

  it.each(['4.99', '10000.01', '1e3', '-5', 'NaN', '１０', '5.001', '0', '', 'Infinity', '0x10'])(
    'of %j dollars is refused, and no order is kept',
    async (amount) => {
      const { id, slug } = await newWorkspace(shop);
      await expect(order(shop, slug, amount)).rejects.toMatchObject({
        code: 'invalid_body',
        field: 'amount',
      });
      expect(await shop.db.prisma.topUp.count({ where: { workspaceId: id } })).toBe(0);
    },
  );

  it.each(['5', '10000', '12.34'])('of %s dollars is taken', async (amount) => {
    const { slug } = await newWorkspace(shop);
    expect((await order(shop, slug, amount)).topUp.amount).toBe(amount);
  });

  it('makes one order and one page for a request that is repeated under its Idempotency-Key', async () => {
    const { id, slug } = await newWorkspace(shop);
    const key = await shop.db.prisma.managementKey.create({
      data: {
        id: crypto.randomUUID(),
        name: 'once',
        hash: Buffer.from(crypto.randomUUID()),
        displayStart: 'mgk_a',
        displayEnd: 'zzzz',
      },
    });
    const once = { keyId: key.id, secret: 'secret', token: 'a' };
    const asked = { actor: operator, workspace: slug, input: { amount: '7' }, once };
    shop.server.down = true;
    await expect(ask(shop.host, createTopUp, asked)).rejects.toMatchObject({
      code: 'billing_unreachable',
    });
    shop.server.down = false;
    const answers = await Promise.all([1, 2, 3].map(() => ask(shop.host, createTopUp, asked)));
    expect(new Set(answers.map((one) => `${one.id} ${one.url}`)).size).toBe(1);
    expect(answers[0]?.url).toBe(sessionOf(shop.server, answers[0]?.id ?? '').url);
    expect(await shop.db.prisma.topUp.count({ where: { workspaceId: id } })).toBe(1);
  });

  it('of another workspace does not exist here', async () => {
    const [mine, other] = [await newWorkspace(shop), await newWorkspace(shop)];
    const { topUp } = await order(shop, other.slug, '5');
    const asked = { actor: operator, workspace: mine.slug, input: { id: topUp.id } };
    await expect(ask(shop.host, showTopUp, asked)).rejects.toMatchObject({ code: 'not_found' });
    const page = await ask(shop.host, listTopUps, { actor: operator, workspace: mine.slug, input: {} });
    expect(page.data).toEqual([]);
  });

  it('is refused by its cause where no payments are set up (contract: control-plane/top-up)', async () => {
    const { slug } = await newWorkspace(shop);
    const asked = { actor: operator, workspace: slug, input: { amount: '5' } };
    await expect(ask({ ...shop.host, payments: null }, createTopUp, asked)).rejects.toMatchObject({
      code: 'billing_not_configured',
      text: expect.stringContaining('STRIPE_SECRET_KEY'),
    });
  });

  it('with a fee adds it to the charge, credits only the amount, and returns its share', async () => {
    const withFee = await openShop(shop.server, 250);
    const { id, slug } = await newWorkspace(withFee);
    shop.server.account.events.splice(0);
    const { topUp, session } = await order(withFee, slug, '100');
    expect([topUp.fee, session.amount_total]).toEqual(['2.5', 10_250]);
    shop.server.account.pay(session);
    shop.server.account.refund(session.payment_intent ?? '', 4_100);
    await takeAll(withFee);
    expect(await balanceOf(withFee, id)).toBe(60n * usd);
    await withFee.close();
  });

  it('has one customer at Stripe for its workspace, whose page for cards opens', async () => {
    const { slug } = await newWorkspace(shop);
    const sessions = await Promise.all(['5', '6', '7'].map((amount) => order(shop, slug, amount)));
    expect(new Set(sessions.map(({ session }) => session.customer)).size).toBe(1);
    const asked = { actor: operator, workspace: slug, input: {} };
    const { url } = await ask(shop.host, openPortal, asked);
    expect(url).toContain(`${shop.server.url}/portal/`);
    shop.server.down = true;
    await expect(ask(shop.host, openPortal, asked)).rejects.toMatchObject({ code: 'billing_unreachable' });
    shop.server.down = false;
  });

  it('is paid by another customer where that of the workspace is gone at Stripe', async () => {
    const { account } = shop.server;
    const { id, slug } = await newWorkspace(shop);
    const first = await order(shop, slug, '5');
    account.customers.delete(first.session.customer ?? '');
    const second = await order(shop, slug, '6');
    expect(second.session.customer).not.toBe(first.session.customer);
    account.pay(second.session);
    for (const event of account.events.splice(0)) await take(shop, event);
    expect(await balanceOf(shop, id)).toBe(6n * usd);
    account.customers.delete(second.session.customer ?? '');
    const asked = { actor: operator, workspace: slug, input: {} };
    expect((await ask(shop.host, openPortal, asked)).url).toContain('/portal/');
    const third = await Promise.all(['7', '8'].map((amount) => order(shop, slug, amount)));
    expect(new Set(third.map(({ session }) => session.customer)).size).toBe(1);
    const { differences } = await reconcile(shop.db.pool, shop.payments, Date.now());
    expect(differences.map(({ paymentIntent }) => paymentIntent)).not.toContain(
      second.session.payment_intent,
    );
  });
});
