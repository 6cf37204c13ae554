import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handleEvent } from '#lib/control/billing/payments/handle';
import { reconcile } from '#lib/control/billing/reconcile/reconcile';
import { verifyLedger } from '#lib/control/billing/verify';
import { listLedger } from '#lib/control/operations/ledger/operations';
import { ask } from '#lib/control/operations/run';
import {
  balanceOf,
  failingAt,
  newWorkspace,
  openShop,
  operator,
  order,
  type Shop,
  take,
} from '#tests/gateway/billing/account';
import type { Refund, StripeEvent } from '#tools/sandbox/payments/objects';
import { startStripe } from '#tools/sandbox/payments/server';

const usd = 1_000_000_000n;
const daySeconds = 86_400;
let nowSeconds = Math.floor(Date.now() / 1000);
let shop: Shop;

beforeAll(async () => {
  shop = await openShop(await startStripe({ nowSeconds: () => nowSeconds }));
});
afterAll(async () => {
  const { checks } = await verifyLedger(shop.db);
  expect(checks.filter(({ rows }) => rows.length > 0)).toEqual([]);
  await shop.close();
  await shop.server.close();
});

/** What the stand-in has told since it was last asked. */
const told = () => shop.server.account.events.splice(0);

async function takeAll(events: readonly StripeEvent[]): Promise<void> {
  for (const event of events) expect((await take(shop, event)).outcome).not.toBe('later');
}

/** A workspace whose $20 are paid and credited. */
async function paid() {
  const { account } = shop.server;
  const workspace = await newWorkspace(shop);
  const { topUp, session } = await order(shop, workspace.slug, '20');
  account.pay(session);
  await takeAll(told());
  const payment = session.payment_intent ?? '';
  return { ...workspace, topUp, payment, refund: (cents: number) => account.refund(payment, cents) };
}

/** The events of a failure. */
function failed(refund: Refund): StripeEvent[] {
  shop.server.account.failRefund(refund);
  const events = told();
  expect(events.map(({ type }) => type)).toEqual([
    'refund.failed',
    'refund.updated',
    'charge.refund.updated',
  ]);
  return events;
}

const topUpOf = (id: string) => shop.db.prisma.topUp.findUniqueOrThrow({ where: { id } });
const refundLines = (workspaceId: string) =>
  shop.db.prisma.ledgerLine.count({ where: { workspaceId, kind: 'refund' } });
const run = () => reconcile(shop.db.pool, shop.payments, nowSeconds * 1000);

describe('a refund that fails after it was posted (contract: money/refunds)', () => {
  it('gives the credit back once, and the top-up is paid again', async () => {
    const { id, slug, topUp, refund } = await paid();
    const { paidAt } = await topUpOf(topUp.id);
    const made = refund(2_000);
    await takeAll(told());
    expect(await balanceOf(shop, id)).toBe(0n);
    expect(await topUpOf(topUp.id)).toMatchObject({ status: 'refunded', refundedCents: 2_000 });
    const events = failed(made);
    await Promise.all(events.flatMap((event) => [take(shop, event), take(shop, event)]));
    for (const event of events) expect(await take(shop, event)).toMatchObject({ outcome: 'known' });
    expect(await balanceOf(shop, id)).toBe(20n * usd);
    expect(await topUpOf(topUp.id)).toMatchObject({ status: 'paid', refundedCents: 0, paidAt });
    const asked = { actor: operator, workspace: slug, input: { kind: 'refund', order: 'oldest' } };
    const { data } = await ask(shop.host, listLedger, asked);
    expect(data.map(({ amount, ref, reason }) => [amount, ref, reason])).toEqual([
      ['-20', `${topUp.id}:2000`, null],
      ['20', `${topUp.id}:2000:2000`, 'refund failed'],
    ]);
  });

  it.each([['refund.failed'], ['refund.updated'], ['charge.refund.updated']])(
    'is heard of by %s alone',
    async (type) => {
      const { id, refund } = await paid();
      const made = refund(500);
      await takeAll(told());
      expect(await balanceOf(shop, id)).toBe(15n * usd);
      await takeAll(failed(made).filter((event) => event.type === type));
      expect(await balanceOf(shop, id)).toBe(20n * usd);
    },
  );

  it('posts nothing where it is heard of before the refund, and lets the next one be posted', async () => {
    const { id, topUp, refund } = await paid();
    const made = refund(500);
    const asked = told();
    await takeAll([...failed(made), ...asked]);
    expect(await refundLines(id)).toBe(0);
    refund(500);
    await takeAll(told());
    expect(await balanceOf(shop, id)).toBe(15n * usd);
    expect(await topUpOf(topUp.id)).toMatchObject({ status: 'paid', refundedCents: 500, failedCents: 500 });
  });

  it('is not taken back by an event that asked Stripe before and is taken after', async () => {
    const { id, refund } = await paid();
    const { server } = shop;
    const made = refund(500);
    const asked = told();
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    server.after = async (what) => {
      if (what !== 'GET /v1/refunds') return;
      server.after = () => {};
      reached.resolve();
      await goOn.promise;
    };
    const late = takeAll(asked);
    await reached.promise;
    await takeAll(failed(made));
    goOn.resolve();
    await late;
    expect(await balanceOf(shop, id)).toBe(20n * usd);
    expect(await refundLines(id)).toBe(0);
  });

  it('gives it back once however the database fails', async () => {
    const { id, refund } = await paid();
    const made = refund(2_000);
    const asked = told();
    await takeAll(asked);
    const [event, ...others] = failed(made);
    let failures = 0;
    for (let step = 1; ; step++) {
      const handled = await handleEvent(
        failingAt(shop.db.pool, step),
        shop.payments.stripe,
        event as never,
      ).catch(() => null);
      if (handled) break;
      failures += 1;
      expect(await shop.db.prisma.stripeEvent.count({ where: { id: event?.id ?? '' } })).toBe(0);
      expect(await balanceOf(shop, id)).toBe(0n);
    }
    expect(failures).toBeGreaterThan(5);
    await takeAll([...others, ...asked]);
    expect(await balanceOf(shop, id)).toBe(20n * usd);
    expect(await refundLines(id)).toBe(2);
  });

  it('of what else the account sells changes nothing', async () => {
    const { account } = shop.server;
    const { session } = await order(shop, (await newWorkspace(shop)).slug, '10');
    account.pay(session);
    const payment = session.payment_intent ?? '';
    Object.assign(account.intents.get(payment) ?? {}, { metadata: {} });
    told();
    const made = account.refund(payment, 500);
    for (const event of [...told(), ...failed(made)]) {
      expect(await take(shop, event)).toMatchObject({ outcome: 'ignored', moved: false });
    }
  });
});

describe('reconciling if no event reported it (contract: money/reconcile)', () => {
  it('gives back what failed, of refunds and payments of months ago too, and nothing differs', async () => {
    nowSeconds -= 300 * daySeconds;
    const [whole, twice] = [await paid(), await paid()];
    nowSeconds += 50 * daySeconds;
    twice.refund(300);
    nowSeconds += 150 * daySeconds;
    const made = [whole.refund(2_000)];
    await takeAll(told());
    nowSeconds += 99 * daySeconds;
    made.push(twice.refund(200));
    told();
    expect(await run()).toMatchObject({ credited: 1, driftNano: 0n });
    expect(await topUpOf(whole.topUp.id)).toMatchObject({ status: 'refunded' });
    expect(await balanceOf(shop, twice.id)).toBe(15n * usd);
    nowSeconds += daySeconds;
    for (const refund of made) shop.server.account.failRefund(refund);
    told();
    expect(await run()).toMatchObject({ credited: 2, driftNano: 0n });
    expect(await balanceOf(shop, whole.id)).toBe(20n * usd);
    expect(await topUpOf(whole.topUp.id)).toMatchObject({ status: 'paid', refundedCents: 0 });
    expect(await balanceOf(shop, twice.id)).toBe(17n * usd);
    expect(await run()).toMatchObject({ credited: 0, driftNano: 0n });
  });
});
