import { nanoOf, shareOf } from '#lib/control/billing/payments/cents';
import type { Disputed, Ended, Paid, Returned } from '#lib/control/billing/payments/fact';
import type { LineKind } from '#lib/gateway/ledger/post-line';

/** An order as facts find it. */
export interface Order {
  readonly id: string;
  readonly workspaceId: string;
  readonly cents: number;
  readonly feeCents: number;
  readonly livemode: boolean;
  readonly status: 'open' | 'paid' | 'expired' | 'failed' | 'refunded';
  readonly paymentIntent: string | null;
  /** What was returned to the card. */
  readonly refundedCents: number;
  /** Refunds that failed. */
  readonly failedCents: number;
  readonly customer: string | null;
}

/** A line to post; there is only one for each kind and ref. */
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
      readonly order: Partial<
        Pick<Order, 'status' | 'paymentIntent' | 'refundedCents' | 'failedCents' | 'customer'>
      >;
      readonly lines: readonly Line[];
    }
  | { readonly outcome: 'ignored' | 'quarantined' | 'later'; readonly why: string };

/**
 * What a fact does to its order and the ledger (contract: money/payment-events). Repeated facts, or facts in another
 * order, result in the same ledger: a payment is credited once, refunds and failed refunds add up to absolute amounts,
 * and a dispute is posted once each way. Pure.
 * @param order null: the fact belongs to no order.
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
      if (fact.paymentIntent === null) return { outcome: 'ignored', why: 'it belongs to no payment' };
      if (!order) return later(`the payment ${fact.paymentIntent} is not credited`);
      if (order.livemode !== livemode || fact.currency !== 'usd')
        return { outcome: 'quarantined', why: 'it has another mode (test or live) or currency' };
      return fact.kind === 'returned' ? returned(order, fact) : disputed(order, fact);
  }
}

function paid(order: Order, fact: Paid, livemode: boolean): Decision {
  const wrong = disagreement(order, fact, livemode);
  if (wrong) return { outcome: 'quarantined', why: wrong };
  if (order.paymentIntent === fact.paymentIntent) return { outcome: 'ignored', why: 'already credited' };
  const { paymentIntent, customer } = fact;
  const reason = order.livemode ? null : 'Test payment: no real money moved';
  return {
    outcome: 'applied',
    order: { status: 'paid', paymentIntent, customer },
    lines: [{ kind: 'top_up', ref: paymentIntent, amountNano: nanoOf(order.cents), reason }],
  };
}

/** Why a payment does not belong to the order; null: it does. */
function disagreement(order: Order, fact: Paid, livemode: boolean): string | null {
  const due = order.cents + order.feeCents;
  if (order.livemode !== livemode) return 'the payment has the other mode (test or live)';
  if (fact.currency !== 'usd') return `the payment is in ${fact.currency}, not in usd`;
  if (fact.workspaceId !== order.workspaceId) return 'the payment names another workspace';
  if (order.customer !== null && fact.customer !== order.customer) {
    return `the payment belongs to the customer ${fact.customer}, the order to ${order.customer}`;
  }
  if (fact.paidCents !== due) return `${fact.paidCents} cents were paid, but the order is for ${due}`;
  if (order.paymentIntent !== null && order.paymentIntent !== fact.paymentIntent) {
    return `the order was already paid by ${order.paymentIntent}`;
  }
  return null;
}

function ended(order: Order | null, { status }: Ended): Decision {
  if (!order) return { outcome: 'ignored', why: 'no such order' };
  // Money that has arrived counts for more than a session that has ended.
  if (order.status !== 'open') return { outcome: 'ignored', why: `it is ${order.status}` };
  return { outcome: 'applied', order: { status }, lines: [] };
}

/**
 * Posts by how much more or less has gone back than was posted before. Both sums only grow at Stripe: the larger ones
 * are the later ones, whenever they are heard of, and no two states of an order have one ref.
 */
function returned(order: Order, { askedCents, failedCents, paymentIntent }: Returned): Decision {
  const asked = Math.max(askedCents, order.refundedCents + order.failedCents);
  const failed = Math.max(failedCents, order.failedCents);
  const refundedCents = asked - failed;
  if (refundedCents === order.refundedCents && failed === order.failedCents) {
    return { outcome: 'applied', order: {}, lines: [] };
  }
  const whole = order.cents + order.feeCents;
  const shareBefore = shareOf(order.cents, order.refundedCents, whole);
  const amountNano = shareBefore - shareOf(order.cents, refundedCents, whole);
  const ref = `${paymentIntent}:${asked}${failed === 0 ? '' : `:${failed}`}`;
  const reason = amountNano > 0n ? 'refund failed' : null;
  return {
    outcome: 'applied',
    order: { refundedCents, failedCents: failed, status: refundedCents >= whole ? 'refunded' : 'paid' },
    lines: amountNano === 0n ? [] : [{ kind: 'refund', ref, amountNano, reason }],
  };
}

function disputed(order: Order, fact: Disputed): Decision {
  const share = shareOf(order.cents, fact.disputedCents, order.cents + order.feeCents);
  const lines: Line[] = [];
  if (fact.withdrawn) {
    const reason = 'disputed by the cardholder';
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
