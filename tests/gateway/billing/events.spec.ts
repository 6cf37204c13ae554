import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handleEvent } from '#lib/control/billing/payments/handle';
import { verifyLedger } from '#lib/control/billing/verify';
import { listLedger, showStatement } from '#lib/control/operations/ledger/operations';
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
import { permutations } from '#tests/support/stripe/history';
import type { Session, StripeEvent } from '#tools/sandbox/payments/objects';

const usd = 1_000_000_000n;
let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(async () => {
  const { checks } = await verifyLedger(shop.db);
  expect(checks.filter(({ rows }) => rows.length > 0)).toEqual([]);
  await shop.close();
});

/** What the stand-in tells of what `act` does. */
function eventsOf(act: () => void): StripeEvent[] {
  shop.server.account.events.splice(0);
  act();
  return shop.server.account.events.splice(0);
}

/** Delivers events until none must come again. */
async function deliver(events: readonly StripeEvent[], times = 1): Promise<void> {
  let left = events;
  for (let round = 0; left.length > 0 && round < 10; round++) {
    const again: StripeEvent[] = [];
    for (const event of left) {
      const handled = await Promise.all(Array.from({ length: times }, () => take(shop, event)));
      if (handled.every(({ outcome }) => outcome === 'later')) again.push(event);
    }
    left = again;
  }
  expect(left).toEqual([]);
}

/** Orders in which each event once comes next after each set of others; the rest of the 720 is in tests/unit/billing. */
function ordersOfEachStep(count: number): number[][] {
  const stepsOf = (order: readonly number[]) =>
    order.map((one, at) => `${one} after ${order.slice(0, at).sort()}`);
  const left = permutations(Array.from({ length: count }, (_, place) => place));
  const missing = new Set(left.flatMap(stepsOf));
  const chosen: number[][] = [];
  while (missing.size > 0) {
    const gains = left.map((order) => stepsOf(order).filter((step) => missing.has(step)).length);
    const best = left[gains.indexOf(Math.max(...gains))] ?? [];
    for (const step of stepsOf(best)) missing.delete(step);
    chosen.push(best);
  }
  return chosen;
}

const intentOf = (session: Session) => session.payment_intent ?? '';

describe('the events of a payment (contract: money/payment-events)', () => {
  it('lead to one ledger whichever of six comes next after whichever others, delivered once or three times at once', async () => {
    const orders = ordersOfEachStep(6);
    const balances = new Set<bigint>();
    const lanes = Array.from({ length: 8 }, async (_, lane) => {
      for (let at = lane; at < orders.length; at += 8) {
        const { id, slug } = await newWorkspace(shop);
        const { session } = await order(shop, slug, '20');
        const events: StripeEvent[] = [];
        const { account } = shop.server;
        const start = account.events.length;
        account.pay(session);
        account.refund(intentOf(session), 300);
        account.refund(intentOf(session), 200);
        account.dispute(intentOf(session), null);
        events.push(...account.events.slice(start));
        expect(events).toHaveLength(6);
        await deliver(
          (orders[at] ?? []).map((place) => events[place] as StripeEvent),
          at % 5 === 0 ? 3 : 1,
        );
        balances.add(await balanceOf(shop, id));
      }
    });
    await Promise.all(lanes);
    expect([...balances]).toEqual([-5n * usd]);
  });

  it('are in the ledger and the statement by their order, without Stripe’s ids', async () => {
    const { slug } = await newWorkspace(shop);
    const { topUp, session } = await order(shop, slug, '20');
    const { account } = shop.server;
    const events = eventsOf(() => {
      account.pay(session);
      account.refund(intentOf(session), 300);
      account.dispute(intentOf(session), null);
    });
    await deliver(events);
    const asked = { actor: operator, workspace: slug };
    const { data } = await ask(shop.host, listLedger, { ...asked, input: {} });
    const { id } = data.find(({ kind }) => kind === 'dispute') ?? {};
    const refs = [
      ['top_up', topUp.id],
      ['refund', `${topUp.id}:300`],
      ['dispute', id],
    ];
    expect(new Set(data.map(({ kind, ref }) => `${kind} ${ref}`))).toEqual(
      new Set(refs.map((one) => one.join(' '))),
    );
    const month = data[0]?.at.slice(0, 7);
    const { lines } = await ask(shop.host, showStatement, { ...asked, input: { month } });
    expect(lines.map(({ ref }) => ref)).toEqual(data.map(({ ref }) => ref));
  });

  it('are credited once however the database fails', async () => {
    const { id, slug } = await newWorkspace(shop);
    const { session } = await order(shop, slug, '30');
    const events = eventsOf(() => shop.server.account.pay(session));
    const completed = events.find(({ type }) => type === 'checkout.session.completed');
    let failures = 0;
    for (let step = 1; ; step++) {
      const handled = await handleEvent(
        failingAt(shop.db.pool, step),
        shop.payments.stripe,
        completed as never,
      ).catch(() => null);
      if (handled) break;
      failures += 1;
      expect(await shop.db.prisma.stripeEvent.count({ where: { id: completed?.id ?? '' } })).toBe(0);
      expect(await balanceOf(shop, id)).toBe(0n);
    }
    expect(failures).toBeGreaterThan(5);
    await deliver(events, 50);
    expect(await balanceOf(shop, id)).toBe(30n * usd);
  });

  it('do not give the money of a lost dispute back, but that of a won dispute', async () => {
    for (const [end, left] of [
      ['lost', 0n],
      ['won', 10n * usd],
    ] as const) {
      const { id, slug } = await newWorkspace(shop);
      const { session } = await order(shop, slug, '10');
      const events = eventsOf(() => {
        shop.server.account.pay(session);
        shop.server.account.dispute(intentOf(session), end);
      });
      await deliver(events.toReversed());
      expect(await balanceOf(shop, id)).toBe(left);
    }
  });

  it('end an order that expired or whose money never came, but not one that was paid', async () => {
    const { account } = shop.server;
    const statusAfter = async (act: (session: Session) => void) => {
      const { slug } = await newWorkspace(shop);
      const { topUp, session } = await order(shop, slug, '10');
      await deliver(eventsOf(() => act(session)));
      return (await shop.db.prisma.topUp.findUniqueOrThrow({ where: { id: topUp.id } })).status;
    };
    expect(await statusAfter((session) => account.expire(session))).toBe('expired');
    expect(await statusAfter((session) => account.payLater(session))).toBe('open');
    expect(
      await statusAfter((session) => {
        account.payLater(session);
        account.fail(session);
      }),
    ).toBe('failed');
    expect(
      await statusAfter((session) => {
        account.pay(session);
        account.expire(session);
      }),
    ).toBe('paid');
    expect(
      await statusAfter((session) => {
        account.pay(session);
        account.refund(intentOf(session), 1_000);
      }),
    ).toBe('refunded');
  });

  it.each<[string, (session: Session) => void, object?]>([
    ['amount', (session) => Object.assign(session, { amount_total: 1 })],
    ['currency', (session) => Object.assign(session, { currency: 'eur' })],
    ['workspace', (session) => Object.assign(session.metadata, { workspace: crypto.randomUUID() })],
    ['order', (session) => Object.assign(session, { client_reference_id: crypto.randomUUID() })],
    ['mode', () => undefined, { livemode: true }],
  ])('of a wrong %s are kept apart and credit nothing', async (_, tamper, event = {}) => {
    const { id, slug } = await newWorkspace(shop);
    const { session } = await order(shop, slug, '10');
    const completed = eventsOf(() => shop.server.account.pay(session)).find(
      ({ type }) => type === 'checkout.session.completed',
    );
    if (!completed) throw new Error('the session completed');
    tamper(completed.data.object as Session);
    expect(await take(shop, { ...completed, ...event })).toMatchObject({
      outcome: 'quarantined',
      moved: false,
    });
    expect(await balanceOf(shop, id)).toBe(0n);
  });

  it('of what else the account sells are taken and change nothing', async () => {
    const { session } = await order(shop, (await newWorkspace(shop)).slug, '10');
    const events = eventsOf(() => {
      shop.server.account.pay(session);
    });
    for (const event of events) {
      Object.assign(event.data.object, { metadata: {}, client_reference_id: 'another shop' });
      expect(await take(shop, event)).toMatchObject({ outcome: 'ignored' });
    }
  });

  it('of refunds and disputes of what else the account sells are taken once and change nothing', async () => {
    const { account } = shop.server;
    const { session } = await order(shop, (await newWorkspace(shop)).slug, '10');
    const returned = eventsOf(() => {
      account.pay(session);
      Object.assign(account.intents.get(intentOf(session)) ?? {}, { metadata: {} });
      account.refund(intentOf(session), 300);
      account.dispute(intentOf(session), null);
    }).filter(({ type }) => type.startsWith('charge.'));
    expect(returned.length).toBeGreaterThan(1);
    for (const event of returned) {
      expect(await take(shop, event)).toMatchObject({ outcome: 'ignored', moved: false });
      expect(await take(shop, event)).toMatchObject({ outcome: 'known' });
    }
  });

  it('of a refund of what was kept apart are taken and move nothing', async () => {
    const { account } = shop.server;
    const { id, slug } = await newWorkspace(shop);
    const { session } = await order(shop, slug, '10');
    const events = eventsOf(() => {
      Object.assign(account.intents.get(intentOf(session))?.metadata ?? {}, { workspace: 'another' });
      account.pay(session);
      account.refund(intentOf(session), 1_000);
    });
    const outcome = async (wanted: string) =>
      (await take(shop, events.find(({ type }) => type === wanted) ?? {})).outcome;
    expect(await outcome('charge.refunded')).toBe('ignored');
    expect(await outcome('payment_intent.succeeded')).toBe('quarantined');
    expect(await balanceOf(shop, id)).toBe(0n);
  });

  it('of an order that is not there must come again', async () => {
    const { session } = await order(shop, (await newWorkspace(shop)).slug, '10');
    const [paid] = eventsOf(() => shop.server.account.pay(session));
    Object.assign(paid?.data.object ?? {}, { metadata: { order: crypto.randomUUID(), workspace: 'w' } });
    expect(await take(shop, paid ?? {})).toMatchObject({ outcome: 'later' });
  });
});
