import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chargeNext } from '#lib/control/billing/auto/charge';
import { orderNext } from '#lib/control/billing/auto/order';
import { runAutoTopUps } from '#lib/control/billing/auto/sweep';
import { verifyLedger } from '#lib/control/billing/verify';
import { resumeAutoTopUp, setAutoTopUp, showAutoTopUp } from '#lib/control/operations/auto-top-up/operations';
import { addCredit } from '#lib/control/operations/credit/operations';
import { ask } from '#lib/control/operations/run';
import { deleteWorkspace } from '#lib/control/operations/workspace/delete';
import { setWorkspace } from '#lib/control/operations/workspace/operations';
import { openDb } from '#lib/platform/data/db';
import {
  balanceOf,
  newWorkspace,
  openShop,
  operator,
  order,
  type Shop,
  spend as spendOf,
  takeAll,
} from '#tests/gateway/billing/account';
import { addPerson } from '#tests/gateway/billing/people';
import type { CardMood } from '#tools/sandbox/payments/objects';

const usd = 1_000_000_000n;
let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(async () => {
  const { checks } = await verifyLedger(shop.db);
  // The usage of these tests has no calls behind it.
  expect(checks.filter(({ name, rows }) => /top-up|refunds|payment/.test(name) && rows.length > 0)).toEqual(
    [],
  );
  await shop.close();
});

const spend = (id: string, dollars: number) => spendOf(shop, id, dollars);
const run = () => runAutoTopUps({ pool: shop.db.pool, payments: shop.payments, changed: () => {} });
/** The next try of an order is due, whatever the clock does now. */
const dueAgain = (id: string) =>
  shop.db.pool.query(
    `UPDATE top_up SET next_try_at = now() - interval '1 s' WHERE auto AND workspace_id = $1 AND status = 'open'`,
    [id],
  );
const deliverAll = () => takeAll(shop);
const shown = (workspace: string) => ask(shop.host, showAutoTopUp, { actor: operator, workspace, input: {} });
/** Payments at Stripe that nobody attended. */
const charges = (id: string) =>
  [...shop.server.account.intents.values()].filter(
    ({ metadata }) => metadata.workspace === id && metadata.auto === 'true',
  );

/** A workspace with $20 paid by a card that is saved, $10 to be added below $5, $30 a month. */
async function prepared(mood: CardMood = 'pays', limits: object = {}) {
  const { id, slug } = await newWorkspace(shop);
  const { session } = await order(shop, slug, '20', true);
  shop.server.account.pay(session, mood);
  await deliverAll();
  const input = { enabled: true, threshold: '5', amount: '10', monthlyCap: '30', ...limits };
  await ask(shop.host, setAutoTopUp, { actor: operator, workspace: slug, input });
  return { id, slug, customer: session.customer ?? '' };
}

describe('an automatic top-up (contract: money/auto-top-up)', () => {
  it('is charged once when usage takes the balance to the threshold, and not before', async () => {
    const { id, slug } = await prepared();
    await spend(id, 14.99);
    await run();
    expect(charges(id)).toEqual([]);
    await spend(id, 0.01);
    await run();
    await deliverAll();
    await run();
    expect(charges(id)).toMatchObject([{ amount: 1_000, status: 'succeeded' }]);
    expect(await balanceOf(shop, id)).toBe(15n * usd);
    expect(await shown(slug)).toMatchObject({
      enabled: true,
      paused: null,
      thisMonth: '10',
      card: { brand: 'visa', last4: '4242', expires: '2034-12' },
      last: { status: 'paid', automatic: true, amount: '10' },
    });
  });

  it('is one charge however many processes see the threshold crossed, and settle meanwhile', async () => {
    const { id } = await prepared();
    await Promise.all(Array.from({ length: 20 }, () => spend(id, 1)));
    const other = openDb(shop.url);
    await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        runAutoTopUps({
          pool: at % 2 ? shop.db.pool : other.pool,
          payments: shop.payments,
          changed: () => {},
        }),
      ),
    );
    await other.close();
    await deliverAll();
    expect(charges(id)).toHaveLength(1);
    expect(await balanceOf(shop, id)).toBe(10n * usd);
  });

  const correct = (workspace: string, amount: string) =>
    ask(shop.host, addCredit, { actor: operator, workspace, input: { amount, reason: 'test' } });
  const set = (workspace: string, input: object) =>
    ask(shop.host, setAutoTopUp, { actor: operator, workspace, input });
  const resume = (workspace: string) =>
    ask(shop.host, resumeAutoTopUp, { actor: operator, workspace, input: {} });
  const firstPayment = async (workspaceId: string) =>
    (await shop.db.prisma.topUp.findFirstOrThrow({ where: { workspaceId, auto: false } })).paymentIntent ??
    '';
  const saveCard = async (customer: string) => {
    const card = shop.server.account.addCard(customer, 'pays');
    const owner = shop.server.account.customers.get(customer);
    if (owner) owner.default_payment_method = card.id;
    await deliverAll();
  };

  type Prepared = Awaited<ReturnType<typeof prepared>>;
  const ways: [string, (workspace: Prepared) => Promise<unknown>][] = [
    ['a correction', ({ slug }) => correct(slug, '-18')],
    [
      'a refund',
      async ({ id }) => {
        shop.server.account.refund(await firstPayment(id), 1_800);
        await deliverAll();
      },
    ],
    ['a threshold that is raised', ({ slug }) => set(slug, { threshold: '20' })],
    [
      'usage while they are off, and switching them on',
      async ({ id, slug }) => {
        await set(slug, { enabled: false });
        await spend(id, 18);
        await set(slug, { enabled: true });
      },
    ],
    [
      'a dispute, and resuming',
      async ({ id, slug }) => {
        shop.server.account.dispute(await firstPayment(id), null);
        await deliverAll();
        await resume(slug);
      },
    ],
    [
      'usage without a card, and resuming with another one',
      async ({ id, slug, customer }) => {
        for (const card of shop.server.account.cardsOf(customer)) shop.server.account.removeCard(card);
        await deliverAll();
        await spend(id, 20.5);
        await saveCard(customer);
        await resume(slug);
      },
    ],
  ];
  it.each(ways)('is charged once, without further usage, after %s', async (_, get) => {
    const workspace = await prepared();
    await get(workspace);
    const other = openDb(shop.url);
    const pools = [shop.db.pool, other.pool, shop.db.pool];
    await Promise.all(pools.map((pool) => orderNext(pool, shop.payments)));
    await Promise.all(pools.map((pool) => chargeNext(pool, shop.payments, () => {})));
    await other.close();
    await deliverAll();
    expect(charges(workspace.id)).toMatchObject([{ amount: 1_000, status: 'succeeded' }]);
  });

  it('is not made above the threshold, or while it is off', async () => {
    const { id, slug } = await prepared();
    await correct(slug, '-14.99');
    await run();
    await set(slug, { enabled: false });
    await spend(id, 18);
    await run();
    expect(charges(id)).toEqual([]);
  });

  it('is one charge however many look, order and charge by turns', async () => {
    const { id } = await prepared();
    await spend(id, 18);
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        await orderNext(shop.db.pool, shop.payments);
        await chargeNext(shop.db.pool, shop.payments, () => {});
      }),
    );
    await run();
    expect(charges(id)).toHaveLength(1);
    expect(await balanceOf(shop, id)).toBe(12n * usd);
  });

  it('goes on while one is not enough, up to the cap of the month', async () => {
    const { id, slug } = await prepared();
    await spend(id, 60);
    // The three charges that the cap allows, without further usage; the fourth look finds the cap used up.
    for (const count of [1, 2, 3, 3]) {
      await run();
      expect(charges(id)).toHaveLength(count);
    }
    expect(await shown(slug)).toMatchObject({
      paused: null,
      thisMonth: '30',
      waitsUntil: expect.any(String),
    });
    await set(slug, { monthlyCap: '40' });
    await run();
    expect(charges(id)).toHaveLength(4);
  });

  it.each([
    ['declines', 'declined', 'insufficient_funds'],
    ['asks', 'authentication_required', 'authentication_required'],
  ] as const)(
    'of a card that %s pauses with its reason, is told by mail once, and can be resumed',
    async (mood, reason, detail) => {
      const { id, slug, customer } = await prepared(mood);
      const email = await addPerson(shop.db, id, 'billing');
      await addPerson(shop.db, id, 'developer');
      await spend(id, 18);
      await run();
      await deliverAll();
      await run();
      expect(await shown(slug)).toMatchObject({ paused: { reason, detail }, last: { status: 'failed' } });
      const mails = await shop.db.prisma.mail.findMany({
        where: { facts: { path: ['slug'], equals: slug } },
      });
      expect(mails).toMatchObject([
        { recipient: email, kind: 'auto-top-up-stopped', facts: { reason, detail } },
      ]);
      await spend(id, 1);
      await run();
      expect(charges(id)).toHaveLength(1);
      // Another card in the portal, then twice by two tabs.
      await saveCard(customer);
      await Promise.all([resume(slug), resume(slug)]);
      await run();
      expect(charges(id).map(({ status }) => status)).toEqual(['requires_payment_method', 'succeeded']);
      expect(await balanceOf(shop, id)).toBe(11n * usd);
    },
  );

  it('pauses when a payment is disputed', async () => {
    const { id, slug } = await prepared();
    const paid = await shop.db.prisma.topUp.findFirstOrThrow({ where: { workspaceId: id } });
    shop.server.account.dispute(paid.paymentIntent ?? '', null);
    await deliverAll();
    await spend(id, 1);
    await run();
    expect(await shown(slug)).toMatchObject({ paused: { reason: 'dispute' } });
    expect(charges(id)).toEqual([]);
  });

  it('pauses when the card is gone, and is not switched on without one', async () => {
    const { id, slug, customer } = await prepared();
    for (const card of shop.server.account.cardsOf(customer)) shop.server.account.removeCard(card);
    await deliverAll();
    expect(await shown(slug)).toMatchObject({ card: null, paused: { reason: 'no_card' } });
    await spend(id, 18);
    await run();
    expect(charges(id)).toEqual([]);
    const asked = { actor: operator, workspace: (await newWorkspace(shop)).slug, input: { enabled: true } };
    await expect(ask(shop.host, setAutoTopUp, asked)).rejects.toMatchObject({ code: 'invalid_body' });
  });

  it('is completed once by another process if one died between order and charge', async () => {
    const { id } = await prepared();
    await spend(id, 18);
    expect(await orderNext(shop.db.pool, shop.payments)).toBe(true);
    await Promise.all([run(), run(), run()]);
    expect(charges(id)).toHaveLength(1);
    expect(await balanceOf(shop, id)).toBe(12n * usd);
  });

  it('is completed once after a process that died between the charge and its credit', async () => {
    const { id } = await prepared();
    await spend(id, 18);
    await orderNext(shop.db.pool, shop.payments);
    // Stripe took it, and the answer was lost.
    const lost = Object.create(shop.payments.stripe.paymentIntents);
    lost.create = async (...given: Parameters<typeof shop.payments.stripe.paymentIntents.create>) => {
      await shop.payments.stripe.paymentIntents.create(...given);
      throw new Error('the connection broke');
    };
    const stripe = Object.create(shop.payments.stripe, { paymentIntents: { value: lost } });
    await chargeNext(shop.db.pool, { ...shop.payments, stripe }, () => {});
    expect(await balanceOf(shop, id)).toBe(2n * usd);
    await run();
    expect(await balanceOf(shop, id)).toBe(2n * usd);
    await dueAgain(id);
    await run();
    await deliverAll();
    expect(charges(id)).toHaveLength(1);
    expect(await balanceOf(shop, id)).toBe(12n * usd);
  });

  it.each([
    ['made', 12n * usd, 'paid', null],
    ['not made', 2n * usd, 'failed', { reason: 'unreachable' }],
  ] as const)(
    'that Stripe %s is found out by its list after the idempotency key is forgotten',
    async (how, left, status, paused) => {
      const { id, slug } = await prepared();
      await spend(id, 18);
      await orderNext(shop.db.pool, shop.payments);
      if (how === 'made') {
        const made = await shop.db.prisma.topUp.findFirstOrThrow({ where: { workspaceId: id, auto: true } });
        await shop.payments.stripe.paymentIntents.create({
          amount: 1_000,
          currency: 'usd',
          customer: made.customer ?? '',
          payment_method: made.paymentMethod ?? '',
          confirm: true,
          off_session: true,
          metadata: { order: made.id, workspace: id, cents: '1000', auto: 'true' },
        });
      }
      await shop.db.pool.query(
        'UPDATE top_up SET created_at = now() - interval $$21 hours$$ WHERE auto AND workspace_id = $1',
        [id],
      );
      await run();
      expect(charges(id)).toHaveLength(how === 'made' ? 1 : 0);
      expect(await balanceOf(shop, id)).toBe(left);
      expect(await shown(slug)).toMatchObject({ paused, last: { status } });
    },
  );

  it('is tried again while Stripe is away, and charges nothing meanwhile', async () => {
    const { id, slug } = await prepared();
    await spend(id, 18);
    shop.server.down = true;
    await run();
    expect(await shown(slug)).toMatchObject({ paused: null, last: { status: 'open' } });
    shop.server.down = false;
    await dueAgain(id);
    await run();
    expect(charges(id)).toHaveLength(1);
    expect(await balanceOf(shop, id)).toBe(12n * usd);
  });

  const stops: [string, (workspace: string) => Promise<unknown>][] = [
    ['were switched off', (workspace) => set(workspace, { enabled: false })],
    [
      'belong to a workspace that was suspended',
      (workspace) => ask(shop.host, setWorkspace, { actor: operator, workspace, input: { suspended: true } }),
    ],
    [
      'belong to a workspace that was deleted',
      (workspace) =>
        ask(shop.host, deleteWorkspace, { actor: operator, workspace, input: { confirm: workspace } }),
    ],
  ];
  it.each(stops)(
    'charges nothing once they %s, though its order could not reach Stripe before',
    async (_, stop) => {
      const { id, slug } = await prepared();
      await spend(id, 18);
      shop.server.down = true;
      await run();
      await stop(slug);
      shop.server.down = false;
      await dueAgain(id);
      await run();
      expect(charges(id)).toEqual([]);
      expect(await shop.db.prisma.topUp.findMany({ where: { workspaceId: id, auto: true } })).toMatchObject([
        { status: 'failed', failure: 'stopped' },
      ]);
    },
  );

  it('is credited though they were switched off while it was charged', async () => {
    const { id, slug } = await prepared();
    await spend(id, 18);
    await orderNext(shop.db.pool, shop.payments);
    const [order] = await shop.db.prisma.topUp.findMany({ where: { workspaceId: id, auto: true } });
    if (!order?.customer || !order.paymentMethod) throw new Error('an order was made');
    shop.server.account.chargeSaved({
      amount: '1000',
      currency: 'usd',
      customer: order.customer,
      payment_method: order.paymentMethod,
      metadata: { order: order.id, workspace: id, cents: '1000', auto: 'true' },
    });
    await set(slug, { enabled: false });
    await run();
    await run();
    expect(charges(id)).toHaveLength(1);
    expect(await balanceOf(shop, id)).toBe(12n * usd);
    await set(slug, { enabled: true });
    await spend(id, 8);
    await run();
    expect(charges(id)).toHaveLength(2);
  });

  it.each([
    [{ amount: '4.99' }, 'amount'],
    [{ amount: '5.001' }, 'amount'],
    [{ amount: '50', monthlyCap: '40' }, 'monthlyCap'],
    [{ monthlyCap: '-5' }, 'monthlyCap'],
    [{ threshold: '-1' }, 'threshold'],
    [{ threshold: 'NaN' }, 'threshold'],
  ])('is not set to %j', async (input, field) => {
    const { slug } = await newWorkspace(shop);
    const asked = { actor: operator, workspace: slug, input };
    await expect(ask(shop.host, setAutoTopUp, asked)).rejects.toMatchObject({ code: 'invalid_body', field });
    expect(await shown(slug)).toMatchObject({ enabled: false, amount: '25', monthlyCap: '100' });
  });
});
