import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nanoOf } from '#lib/control/billing/payments/cents';
import { type Decision, decide, type Order } from '#lib/control/billing/payments/decide';
import { type Returned, returnedOf } from '#lib/control/billing/payments/fact';
import { dueOf } from '#lib/control/billing/reconcile/drift';
import { returnedBy, type Truth } from '#lib/control/billing/reconcile/truth';
import { happen, type Later, live, orders, permutations, truthOf } from '#tests/support/stripe/history';
import { Account } from '#tools/sandbox/payments/account';

const refund = (part: number): Later => ({ what: 'refund', part });
const failed: Later = { what: 'failed refund' };

/** What Stripe says of the refunds of a payment after each of some events. */
class History {
  readonly account = new Account('http://stand-in', () => 1_800_000_000);
  readonly payment: string;
  readonly order: Order;
  readonly said: Returned[] = [];

  constructor(cents: number, feeCents: number, later: readonly Later[]) {
    const customer = this.account.createCustomer({}).id;
    const placed = { id: 'order', cents, feeCents, customer };
    const [payment = ''] = live(this.account, 'workspace', [
      { ...placed, auto: false, paid: true, later: [] },
    ]);
    this.payment = payment;
    this.order = {
      ...placed,
      workspaceId: 'workspace',
      livemode: false,
      status: 'paid',
      paymentIntent: payment,
      refundedCents: 0,
      failedCents: 0,
    };
    for (const one of later) {
      happen(this.account, payment, one);
      this.said.push(returnedBy(this.truth.intent, this.truth.refunds));
    }
  }

  get truth(): Truth {
    return truthOf(this.account, this.payment);
  }
}

/** The order and the lines beside its credit, which stands. */
class Books {
  order: Order;
  readonly lines = new Map<string, bigint>();
  constructor(order: Order) {
    this.order = order;
  }

  take(fact: Returned): Extract<Decision, { outcome: 'applied' }> {
    const decision = decide(this.order, fact, false);
    if (decision.outcome !== 'applied') throw new Error(decision.why);
    this.order = { ...this.order, ...decision.order };
    for (const { kind, ref, amountNano } of decision.lines) {
      // A line whose ref stood already would be dropped by the ledger.
      expect([...this.lines.keys()]).not.toContain(`${kind} ${ref}`);
      this.lines.set(`${kind} ${ref}`, amountNano);
    }
    return decision;
  }

  get balance(): bigint {
    return [...this.lines.values()].reduce((sum, nano) => sum + nano, nanoOf(this.order.cents));
  }
}

describe('a refund that fails (contract: money/refunds)', () => {
  it('gives its credit back once, and a top-up that was wholly refunded is paid again', () => {
    const { order, said } = new History(2_000, 0, [refund(100), failed]);
    const books = new Books(order);
    const [asked, back] = said.map((fact) => books.take(fact));
    expect(asked).toMatchObject({
      order: { status: 'refunded', refundedCents: 2_000 },
      lines: [{ kind: 'refund', ref: `${order.paymentIntent}:2000`, amountNano: -nanoOf(2_000) }],
    });
    expect(back).toMatchObject({
      order: { status: 'paid', refundedCents: 0, failedCents: 2_000 },
      lines: [
        {
          kind: 'refund',
          ref: `${order.paymentIntent}:2000:2000`,
          amountNano: nanoOf(2_000),
          reason: 'refund failed',
        },
      ],
    });
    for (const fact of said) expect(books.take(fact)).toMatchObject({ order: {}, lines: [] });
  });

  it('posts nothing where it was not posted before', () => {
    const { order, said } = new History(2_000, 0, [refund(100), failed]);
    const books = new Books(order);
    for (const fact of said.toReversed()) expect(books.take(fact).lines).toEqual([]);
    expect(books.order).toMatchObject({ status: 'paid', refundedCents: 0, failedCents: 2_000 });
  });

  it('does not hide one of the same amount that was made after it', () => {
    const { order, said } = new History(2_000, 0, [refund(15), failed, refund(15)]);
    const books = new Books(order);
    for (const fact of said) books.take(fact);
    expect([...books.lines.values()]).toEqual([-nanoOf(300), nanoOf(300), -nanoOf(300)]);
  });

  it('is taken back where the refund was known by its charge alone, the list of refunds being behind', () => {
    const { order, said, truth } = new History(2_000, 0, [refund(15), failed]);
    const paymentIntent = order.paymentIntent;
    const books = new Books(order);
    const early = returnedOf({ paymentIntent, returnedCents: 300, currency: 'usd' }, []);
    expect(books.take(early).lines.map(({ amountNano }) => amountNano)).toEqual([-nanoOf(300)]);
    for (const fact of said.slice(-1)) books.take(fact);
    expect(books.balance).toBe(dueOf(truth));
  });

  it('is canceled while it waits for the payer: the same', () => {
    const waits: Later = { what: 'refund', part: 50, waits: true };
    const { order, said, truth } = new History(2_000, 0, [waits, failed]);
    expect(truth.refunds.map(({ status }) => status)).toEqual(['canceled']);
    const books = new Books(order);
    for (const fact of said) books.take(fact);
    expect(books.balance).toBe(nanoOf(2_000));
  });

  it.each([
    ['was told of all refunds, of which one fails now', 500, [refund(15), refund(10), failed], 200],
    [
      'was told of the largest sum, because one had failed already',
      300,
      [refund(15), failed, refund(10)],
      200,
    ],
  ])('is taken by an order that %s', (_, refundedCents, later, left) => {
    const { order, said } = new History(2_000, 0, later);
    const books = new Books({ ...order, refundedCents });
    books.lines.set(`refund ${order.paymentIntent}:${refundedCents}`, -nanoOf(refundedCents));
    for (const fact of said.slice(-1)) books.take(fact);
    expect(books.balance).toBe(nanoOf(2_000 - left));
    expect(books.order.refundedCents).toBe(left);
  });

  it('results in one ledger in all 720 orders of the six events', () => {
    const history = new History(2_000, 37, [
      refund(15),
      refund(85),
      failed,
      refund(15),
      failed,
      { what: 'refund', part: 10, waits: true },
    ]);
    const ends = new Set<string>();
    for (const said of permutations(history.said)) {
      const books = new Books(history.order);
      for (const fact of said) books.take(fact);
      expect(books.balance).toBe(dueOf(history.truth));
      ends.add(JSON.stringify(books.order));
    }
    expect(ends.size).toBe(1);
  });

  it('results in the last state at Stripe, whatever earlier states were received, in whatever order and how often', () => {
    const numbers = fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: 20 });
    let failures = 0;
    fc.assert(
      fc.property(orders, numbers, ([one], places) => {
        if (one === undefined) return;
        const later = one.later.filter(({ what }) => what !== 'dispute');
        const { order, said, truth } = new History(one.cents, one.feeCents, later);
        const last = said.at(-1);
        if (!last) return;
        const books = new Books(order);
        const heard = places.flatMap((place) => said[place % said.length] ?? []);
        for (const fact of heard.toSpliced((places[0] ?? 0) % (heard.length + 1), 0, last)) books.take(fact);
        expect(books.balance).toBe(dueOf(truth));
        const whole = last.askedCents - last.failedCents === one.cents + one.feeCents;
        expect(books.order.status).toBe(whole ? 'refunded' : 'paid');
        if (last.failedCents > 0) failures += 1;
      }),
      { numRuns: 2_000 },
    );
    expect(failures).toBeGreaterThan(200);
  });
});
