import type Stripe from 'stripe';
import {
  type Fact,
  hasFailed,
  idOf,
  paidByIntent,
  type Returned,
  returnedOf,
} from '#lib/control/billing/payments/fact';
import { refundsOf } from '#lib/control/billing/payments/handle';

/** What Stripe says about one payment of this gateway. */
export interface Truth {
  readonly intent: Stripe.PaymentIntent;
  /** All that it has. */
  readonly refunds: readonly Stripe.Refund[];
  readonly disputes: readonly Stripe.Dispute[];
}

/** A dispute may last months, and a bank may send back a refund weeks after it was made. */
const OVER_SECONDS = 120 * 86_400;
const expand = ['latest_charge'];
const page = 100;

/**
 * The payments that were made since a moment, and those to which something happened since: a refund or a dispute.
 * @param sinceSeconds seconds since 1970.
 * @throws Error of Stripe's client.
 */
export async function listTruths(stripe: Stripe, sinceSeconds: number): Promise<Truth[]> {
  const intents = new Map<string, Stripe.PaymentIntent>();
  const created = { gte: sinceSeconds };
  const made = stripe.paymentIntents.list({ created, expand: ['data.latest_charge'], limit: page });
  for await (const intent of made) intents.set(intent.id, intent);
  const touched = new Set<string>();
  const opened = { gte: sinceSeconds - OVER_SECONDS };
  const refunds = new Map<string, Stripe.Refund[]>();
  for await (const refund of stripe.refunds.list({ created: opened, limit: page })) {
    const id = idOf(refund.payment_intent) ?? '';
    // Stripe does not say when it failed.
    if (refund.created >= sinceSeconds || hasFailed(refund)) touched.add(id);
    refunds.set(id, [...(refunds.get(id) ?? []), refund]);
  }
  const disputes = new Map<string, Stripe.Dispute[]>();
  for await (const dispute of stripe.disputes.list({ created: opened, limit: page })) {
    const id = idOf(dispute.payment_intent) ?? '';
    touched.add(id);
    disputes.set(id, [...(disputes.get(id) ?? []), dispute]);
  }
  for (const id of touched) {
    if (id === '' || intents.has(id)) continue;
    intents.set(id, await stripe.paymentIntents.retrieve(id, { expand }));
  }
  const truths: Truth[] = [];
  for (const intent of intents.values()) {
    const { id, metadata } = intent;
    if (!metadata.order) continue;
    // The list may lack refunds of an older payment.
    const all = intent.created >= opened.gte ? refunds.get(id) : await refundsOf(stripe, id);
    truths.push({ intent, refunds: all ?? [], disputes: disputes.get(id) ?? [] });
  }
  return truths;
}

/** The same as facts, in the order in which they may have happened. Pure. */
export function factsOf({ intent, refunds, disputes }: Truth): Fact[] {
  const paid = paidByIntent(intent);
  if (paid === null) return [];
  const facts: Fact[] = [paid];
  const of = { paymentIntent: intent.id, currency: intent.currency };
  const returned = returnedBy(intent, refunds);
  if (returned.askedCents > 0) facts.push(returned);
  for (const dispute of disputes) {
    const { withdrawn, reinstated } = movedBy(dispute);
    const { id, amount } = dispute;
    // Only the dispute's own event sets `opened`: repeated here, it would pause top-ups that were resumed since.
    const moved = { disputeId: id, disputedCents: amount, opened: false, withdrawn, reinstated };
    if (withdrawn) facts.push({ kind: 'disputed', ...moved, ...of });
  }
  return facts;
}

/** What was returned of a payment. */
export function returnedBy(
  { id, currency, latest_charge: charge }: Stripe.PaymentIntent,
  refunds: readonly Stripe.Refund[],
): Returned {
  const returnedCents = typeof charge === 'object' ? (charge?.amount_refunded ?? 0) : 0;
  return returnedOf({ paymentIntent: id, returnedCents, currency }, refunds);
}

/** Whether a dispute has withdrawn its money, and given it back. An inquiry withdraws none. */
export function movedBy({ status }: Stripe.Dispute): { withdrawn: boolean; reinstated: boolean } {
  const withdrawn = !status.startsWith('warning_') && status !== 'prevented';
  return { withdrawn, reinstated: status === 'won' };
}
