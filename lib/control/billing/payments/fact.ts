import type Stripe from 'stripe';

/** What an event says of a payment, in cents of US dollars unless `currency` says otherwise. */
export type Fact = Paid | Ended | Declined | Returned | Disputed | CardChanged | RefundsChanged;

/** Money has arrived for an order. */
export interface Paid {
  readonly kind: 'paid';
  readonly orderId: string;
  /** null: it names none, or its parts name different orders. */
  readonly workspaceId: string | null;
  readonly paymentIntent: string;
  readonly paidCents: number;
  readonly currency: string;
  readonly customer: string | null;
  readonly receiptUrl: string | null;
}

/** An order ended without money. */
export interface Ended {
  readonly kind: 'ended';
  readonly orderId: string | null;
  readonly status: 'expired' | 'failed';
}

/** A card was not charged. */
export interface Declined {
  readonly kind: 'declined';
  readonly orderId: string | null;
  /** Stripe's word for why. */
  readonly code: string | null;
}

/** The cards of a customer have changed; Stripe must be asked for the current ones. */
export interface CardChanged {
  readonly kind: 'card';
  readonly customer: string | null;
  readonly paymentMethod: string | null;
}

/** The refunds of a payment have changed; Stripe must be asked for the current ones. */
export interface RefundsChanged {
  readonly kind: 'refunds';
  readonly paymentIntent: string | null;
  /** How much of its charge had been returned when the event was made; 0 if the event is about one refund. */
  readonly returnedCents: number;
  readonly currency: string;
}

/** What was returned of a payment: all refunds, less those that failed. Neither sum ever decreases at Stripe. */
export interface Returned {
  readonly kind: 'returned';
  readonly paymentIntent: string | null;
  /** All refunds, those that failed included. */
  readonly askedCents: number;
  /** Those that failed or were canceled: their money stayed. */
  readonly failedCents: number;
  readonly currency: string;
}

/** The card's holder disputes a payment. */
export interface Disputed {
  readonly kind: 'disputed';
  readonly paymentIntent: string | null;
  readonly disputeId: string;
  readonly disputedCents: number;
  readonly currency: string;
  /** It was opened just then, as a dispute or an inquiry. */
  readonly opened: boolean;
  /** Stripe has taken the money. */
  readonly withdrawn: boolean;
  /** And has given it back. */
  readonly reinstated: boolean;
}

/**
 * Types of events that the webhook takes, for the settings of the endpoint at Stripe (contract: money/payment-events);
 * Stripe lists events of at most 20.
 */
export const eventTypes = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'charge.refunded',
  'charge.refund.updated',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'charge.dispute.closed',
  'customer.updated',
  'customer.deleted',
  'payment_method.attached',
  'payment_method.detached',
  'payment_method.automatically_updated',
] as const satisfies readonly Stripe.Event.Type[];

/** @returns null for an event that changes nothing here. Pure. */
export function factOf(event: Stripe.Event): Fact | null {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return paidBySession(event.data.object);
    case 'checkout.session.async_payment_failed':
      return { kind: 'ended', orderId: orderOf(event.data.object), status: 'failed' };
    case 'checkout.session.expired':
      return { kind: 'ended', orderId: orderOf(event.data.object), status: 'expired' };
    case 'payment_intent.succeeded':
      return paidByIntent(event.data.object);
    case 'payment_intent.payment_failed':
      return declined(event.data.object);
    case 'charge.refunded': {
      const { payment_intent, amount_refunded: returnedCents, currency } = event.data.object;
      return { kind: 'refunds', paymentIntent: idOf(payment_intent), returnedCents, currency };
    }
    case 'charge.refund.updated':
    case 'refund.updated':
    case 'refund.failed': {
      const { payment_intent, currency } = event.data.object;
      return { kind: 'refunds', paymentIntent: idOf(payment_intent), returnedCents: 0, currency };
    }
    case 'charge.dispute.created':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated':
    case 'charge.dispute.closed':
      return disputed(event.type, event.data.object);
    case 'customer.updated': {
      const changed = Object.keys(event.data.previous_attributes ?? {});
      // The gateway's own metadata says nothing about cards.
      if (changed.length > 0 && changed.every((name) => name === 'metadata')) return null;
      return { kind: 'card', customer: event.data.object.id, paymentMethod: null };
    }
    case 'customer.deleted':
      return { kind: 'card', customer: event.data.object.id, paymentMethod: null };
    case 'payment_method.attached':
    case 'payment_method.detached':
    case 'payment_method.automatically_updated': {
      const { id, customer } = event.data.object;
      return { kind: 'card', customer: idOf(customer), paymentMethod: id };
    }
    default:
      return null;
  }
}

/**
 * A session is complete before the money of a slow payment method arrives, so only a paid session counts. Other sales
 * of the account name no order.
 */
function paidBySession(session: Stripe.Checkout.Session): Paid | null {
  const paymentIntent = idOf(session.payment_intent);
  const orderId = orderOf(session);
  if (session.payment_status !== 'paid' || paymentIntent === null || orderId === null) return null;
  const reference = session.client_reference_id ?? orderId;
  return {
    kind: 'paid',
    orderId,
    workspaceId: reference === orderId ? (session.metadata?.workspace ?? null) : null,
    paymentIntent,
    paidCents: session.amount_total ?? 0,
    currency: session.currency ?? '',
    customer: idOf(session.customer),
    receiptUrl: null,
  };
}

/** @returns null for a payment that has not succeeded, or is of no order of this gateway. */
export function paidByIntent(intent: Stripe.PaymentIntent): Paid | null {
  const { metadata, latest_charge: charge } = intent;
  if (intent.status !== 'succeeded' || !metadata.order) return null;
  return {
    kind: 'paid',
    orderId: metadata.order,
    workspaceId: metadata.workspace ?? null,
    paymentIntent: intent.id,
    paidCents: intent.amount_received,
    currency: intent.currency,
    customer: idOf(intent.customer),
    receiptUrl: typeof charge === 'object' ? (charge?.receipt_url ?? null) : null,
  };
}

/**
 * What was returned of a payment, by its refunds. The list may lack the newest refunds, so the sum is at least what the
 * charge says was returned.
 * @param refunds all that the payment has.
 */
export function returnedOf(
  { paymentIntent, returnedCents, currency }: Omit<RefundsChanged, 'kind'>,
  refunds: readonly Stripe.Refund[],
): Returned {
  const listedCents = refunds.reduce((sum, { amount }) => sum + amount, 0);
  const failedCents = refunds.filter(hasFailed).reduce((sum, { amount }) => sum + amount, 0);
  const askedCents = Math.max(listedCents, returnedCents);
  return { kind: 'returned', paymentIntent, askedCents, failedCents, currency };
}

/** Whether the money of a refund stayed with the account for good. A pending refund counts as returned. */
export function hasFailed({ status }: Stripe.Refund): boolean {
  return status === 'failed' || status === 'canceled';
}

function declined({ metadata, last_payment_error: error }: Stripe.PaymentIntent): Declined {
  const asks = error?.code === 'authentication_required';
  const code = asks ? 'authentication_required' : (error?.decline_code ?? error?.code ?? null);
  return { kind: 'declined', orderId: metadata.order ?? null, code };
}

function disputed(type: Stripe.Event.Type, dispute: Stripe.Dispute): Disputed {
  const over = type === 'charge.dispute.closed';
  const reinstated = type === 'charge.dispute.funds_reinstated' || (over && dispute.status === 'won');
  // An inquiry takes no money, and may never become a dispute.
  const inquiry = dispute.status.startsWith('warning_');
  return {
    kind: 'disputed',
    paymentIntent: idOf(dispute.payment_intent),
    disputeId: dispute.id,
    disputedCents: dispute.amount,
    currency: dispute.currency,
    opened: type === 'charge.dispute.created',
    withdrawn: reinstated || !inquiry || type === 'charge.dispute.funds_withdrawn',
    reinstated,
  };
}

function orderOf({ metadata }: Stripe.Checkout.Session): string | null {
  return metadata?.order ?? null;
}

/** The id of something that Stripe gives either as an id or as an object. */
export function idOf(named: string | { id: string } | null | undefined): string | null {
  return typeof named === 'string' ? named : (named?.id ?? null);
}
