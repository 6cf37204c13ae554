import type { LineKind } from '#lib/billing/ledger';
import type { Disputed, Ended, Paid, Returned } from '#lib/billing/payments/fact';
import { nanoOf, shareOf } from '#lib/billing/payments/money';

/** An order as facts find it. */
export interface Order {
  readonly id: string;
  readonly workspaceId: string;
  readonly cents: number;
  readonly feeCents: number;
  readonly livemode: boolean;
  readonly status: 'open' | 'paid' | 'expired' | 'failed' | 'refunded';
  readonly paymentIntent: string | null;
  readonly refundedCents: number;
  readonly customer: string | null;
}

/** A line to post; one of a kind and ref stands once. */
export interface Line {
  readonly kind: LineKind;
  readonly ref: string;
  readonly amountNano: bigint;
  readonly reason: string | null;
}

export type Decision =
  | {
      readonly outcome: 'applied';
      /** What the order becomes. */
      readonly order: Partial<Pick<Order, 'status' | 'paymentIntent' | 'refundedCents' | 'customer'>>;
      readonly lines: readonly Line[];
    }
  | { readonly outcome: 'ignored' | 'quarantined' | 'later'; readonly why: string };

/**
 * What a fact does to its order and the ledger (contract: money/payment-events). The same fact again, or facts in
 * another order, lead to the same ledger: credits stand once a payment, refunds add up to an absolute amount, disputes
 * stand once each way. Pure.
 * @param order null: there is none that the fact could be of.
 */
export function decide(
  order: Order | null,
  fact: Paid | Ended | Returned | Disputed,
  livemode: boolean,
): Decision {
  switch (fact.kind) {
    case 'paid':
      return order ? paid(order, fact, livemode) : later(`there is no order ${fact.orderId}`);
    case 'ended':
      return ended(order, fact);
    default:
      if (fact.paymentIntent === null) return { outcome: 'ignored', why: 'it is of no payment' };
      if (!order) return later(`the payment ${fact.paymentIntent} is not credited`);
      if (order.livemode !== livemode || fact.currency !== 'usd')
        return { outcome: 'quarantined', why: 'it is of another mode or currency' };
      return fact.kind === 'returned' ? returned(order, fact) : disputed(order, fact);
  }
}

function paid(order: Order, fact: Paid, livemode: boolean): Decision {
  const wrong = disagreement(order, fact, livemode);
  if (wrong) return { outcome: 'quarantined', why: wrong };
  if (order.paymentIntent === fact.paymentIntent) return { outcome: 'ignored', why: 'credited already' };
  const { paymentIntent, customer } = fact;
  const reason = order.livemode ? null : 'Test payment: no real money moved';
  return {
    outcome: 'applied',
    order: { status: 'paid', paymentIntent, customer },
    lines: [{ kind: 'top_up', ref: paymentIntent, amountNano: nanoOf(order.cents), reason }],
  };
}

/** Why a payment is not that of the order; null: it is. */
function disagreement(order: Order, fact: Paid, livemode: boolean): string | null {
  const due = order.cents + order.feeCents;
  if (order.livemode !== livemode) return 'the payment is of the other mode (test or live)';
  if (fact.currency !== 'usd') return `the payment is in ${fact.currency}, not in usd`;
  if (fact.workspaceId !== order.workspaceId) return 'the payment names another workspace';
  if (order.customer !== null && fact.customer !== order.customer) {
    return `the payment is of the customer ${fact.customer}, the order of ${order.customer}`;
  }
  if (fact.paidCents !== due) return `the payment is of ${fact.paidCents} cents, the order of ${due}`;
  if (order.paymentIntent !== null && order.paymentIntent !== fact.paymentIntent) {
    return `the order was paid by ${order.paymentIntent} already`;
  }
  return null;
}

function ended(order: Order | null, { status }: Ended): Decision {
  if (!order) return { outcome: 'ignored', why: 'no such order' };
  // Money that has arrived counts for more than a session that has ended.
  if (order.status !== 'open') return { outcome: 'ignored', why: `it is ${order.status}` };
  return { outcome: 'applied', order: { status }, lines: [] };
}

/** Posts what has gone back beyond what was posted before: refunds of one payment add up to an absolute amount. */
function returned(order: Order, { returnedCents, paymentIntent }: Returned): Decision {
  if (returnedCents <= order.refundedCents) return { outcome: 'applied', order: {}, lines: [] };
  const whole = order.cents + order.feeCents;
  const now = shareOf(order.cents, returnedCents, whole);
  const before = order.refundedCents === 0 ? 0n : shareOf(order.cents, order.refundedCents, whole);
  const ref = `${paymentIntent}:${returnedCents}`;
  return {
    outcome: 'applied',
    order: { refundedCents: returnedCents, ...(returnedCents >= whole ? { status: 'refunded' } : {}) },
    lines: [{ kind: 'refund', ref, amountNano: before - now, reason: null }],
  };
}

function disputed(order: Order, fact: Disputed): Decision {
  const share = shareOf(order.cents, fact.disputedCents, order.cents + order.feeCents);
  const lines: Line[] = [];
  if (fact.withdrawn) {
    const reason = 'disputed by the card holder';
    lines.push({ kind: 'dispute', ref: fact.disputeId, amountNano: -share, reason });
  }
  if (fact.reinstated) {
    lines.push({ kind: 'dispute', ref: `${fact.disputeId}:won`, amountNano: share, reason: 'dispute won' });
  }
  return { outcome: 'applied', order: {}, lines };
}

function later(why: string): Decision {
  return { outcome: 'later', why };
}
