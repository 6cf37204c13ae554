import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, type Order } from '#lib/control/billing/payments/decide';
import { type Fact, factOf, paidByIntent, returnedOf } from '#lib/control/billing/payments/fact';
import { dueOf } from '#lib/control/billing/reconcile/drift';
import { eventOf, live, orders, permutations, shuffled, truthOf } from '#tests/support/stripe/history';
import { Account } from '#tools/sandbox/payments/account';
import type { StripeEvent } from '#tools/sandbox/payments/objects';

/** Orders and lines as events leave them, without a database. */
class Books {
  readonly orders = new Map<string, Order>();
  readonly lines = new Map<string, bigint>();
  readonly #account: Account;
  constructor(account: Account, all: readonly Order[]) {
    this.#account = account;
    for (const order of all) this.orders.set(order.id, order);
  }

  /** Takes each event once, and again those that needed another one. */
  take(events: readonly StripeEvent[]): void {
    const handled = new Set<string>();
    let left = events;
    for (let round = 0; left.length > 0 && round < 20; round++) {
      left = left.filter((event) => {
        if (handled.has(event.id)) return false;
        const fact = this.#asked(factOf(eventOf(event)));
        if (fact !== null && !this.#apply(fact) && !this.#lookUp(fact)) return true;
        handled.add(event.id);
        return false;
      });
    }
    expect(left).toEqual([]);
  }

  /** As the webhook asks Stripe for the refunds of a payment. */
  #asked(fact: Fact | null): Fact | null {
    if (fact?.kind !== 'refunds') return fact;
    return returnedOf(fact, truthOf(this.#account, fact.paymentIntent ?? '').refunds);
  }

  /** And for the payment of a refund or dispute. */
  #lookUp(fact: Fact): boolean {
    if (fact.kind !== 'returned' && fact.kind !== 'disputed') return false;
    const paid = paidByIntent(truthOf(this.#account, fact.paymentIntent ?? '').intent);
    return paid !== null && this.#apply(paid) && this.#apply(fact);
  }

  /** @returns false: it must come again. */
  #apply(fact: Fact): boolean {
    if (fact.kind === 'card' || fact.kind === 'refunds' || fact.kind === 'declined') return true;
    const all = [...this.orders.values()];
    const order =
      fact.kind === 'paid' || fact.kind === 'ended'
        ? this.orders.get(fact.orderId ?? '')
        : all.find(({ paymentIntent }) => paymentIntent === fact.paymentIntent);
    const decision = decide(order ?? null, fact, false);
    if (decision.outcome !== 'applied' || !order) return decision.outcome !== 'later';
    this.orders.set(order.id, { ...order, ...decision.order });
    for (const { kind, ref, amountNano } of decision.lines) {
      const name = `${kind} ${ref}`;
      if (!this.lines.has(name)) this.lines.set(name, amountNano);
    }
    return true;
  }

  get balance(): bigint {
    return [...this.lines.values()].reduce((sum, nano) => sum + nano, 0n);
  }
}

describe('the ledger of a workspace (contract: money/payment-events)', () => {
  it('is one in all 720 orders of six events', () => {
    const balances = new Set<bigint>();
    for (const places of permutations([0, 1, 2, 3, 4, 5])) {
      const account = new Account('http://stand-in', () => 1_800_000_000);
      const customer = account.createCustomer({}).id;
      const order = { id: 'order', cents: 2_000, feeCents: 0, customer };
      const [payment = ''] = live(account, 'workspace', [
        {
          ...order,
          auto: false,
          paid: true,
          later: [
            { what: 'refund', part: 15 },
            { what: 'refund', part: 10 },
            { what: 'dispute', part: 100, end: null },
          ],
        },
      ]);
      expect(account.events).toHaveLength(6);
      const books = new Books(account, [
        {
          ...order,
          workspaceId: 'workspace',
          livemode: false,
          status: 'open',
          paymentIntent: null,
          refundedCents: 0,
          failedCents: 0,
        },
      ]);
      books.take(places.flatMap((place) => account.events[place] ?? []));
      balances.add(books.balance);
      expect(books.balance).toBe(dueOf(truthOf(account, payment)));
    }
    expect([...balances]).toEqual([-5_000_000_000n]);
  });

  it('depends only on the set of events, whatever their order and number, and agrees with Stripe', () => {
    const numbers = fc.array(fc.nat(1_000_000), { minLength: 5, maxLength: 40 });
    let events = 0;
    fc.assert(
      fc.property(orders, numbers, (all, order) => {
        const account = new Account('http://stand-in', () => 1_800_000_000);
        const customer = account.createCustomer({}).id;
        const named = all.map((one, at) => ({ ...one, id: `order-${at}`, customer }));
        const payments = live(account, 'workspace', named);
        const open = named.map(({ id, cents, feeCents }) => ({
          id,
          cents,
          feeCents,
          customer,
          workspaceId: 'workspace',
          livemode: false,
          status: 'open' as const,
          paymentIntent: null,
          refundedCents: 0,
          failedCents: 0,
        }));
        const [inOrder, inDisorder] = [new Books(account, open), new Books(account, open)];
        inOrder.take(account.events);
        inDisorder.take(shuffled(account.events, order));
        events += account.events.length;
        const due = payments.reduce((sum, payment) => sum + dueOf(truthOf(account, payment)), 0n);
        expect(inOrder.balance).toBe(due);
        expect(inDisorder.balance).toBe(due);
        expect([...inDisorder.orders.values()].map(({ id, status }) => [id, status])).toEqual(
          [...inOrder.orders.values()].map(({ id, status }) => [id, status]),
        );
      }),
      { numRuns: 2_000 },
    );
    expect(events).toBeGreaterThan(10_000);
  });
});
