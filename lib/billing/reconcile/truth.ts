import type Stripe from 'stripe';
import { type Fact, idOf, paidByIntent } from '#lib/billing/payments/fact';

/** What Stripe says of one payment of this gateway. */
export interface Truth {
  readonly intent: Stripe.PaymentIntent;
  readonly disputes: readonly Stripe.Dispute[];
}

/** A dispute is over months after it was opened. */
const DISPUTE_SECONDS = 120 * 86_400;
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
  for await (const { payment_intent } of stripe.refunds.list({ created, limit: page })) {
    touched.add(idOf(payment_intent) ?? '');
  }
  const disputes = new Map<string, Stripe.Dispute[]>();
  const opened = { gte: sinceSeconds - DISPUTE_SECONDS };
  for await (const dispute of stripe.disputes.list({ created: opened, limit: page })) {
    const id = idOf(dispute.payment_intent) ?? '';
    touched.add(id);
    disputes.set(id, [...(disputes.get(id) ?? []), dispute]);
  }
  for (const id of touched) {
    if (id === '' || intents.has(id)) continue;
    intents.set(id, await stripe.paymentIntents.retrieve(id, { expand }));
  }
  return [...intents.values()]
    .filter(({ metadata }) => metadata.order)
    .map((intent) => ({ intent, disputes: disputes.get(intent.id) ?? [] }));
}

/** The same as facts, in the order in which they may have happened. Pure. */
export function factsOf({ intent, disputes }: Truth): Fact[] {
  const paid = paidByIntent(intent);
  if (paid === null) return [];
  const facts: Fact[] = [paid];
  const of = { paymentIntent: intent.id, currency: intent.currency };
  const back = returnedCents(intent);
  if (back > 0) facts.push({ kind: 'returned', returnedCents: back, ...of });
  for (const dispute of disputes) {
    const { withdrawn, reinstated } = movedBy(dispute);
    const { id, amount } = dispute;
    // `opened` is left to the dispute's own event: told again, it would pause top-ups that were resumed since.
    const moved = { disputeId: id, disputedCents: amount, opened: false, withdrawn, reinstated };
    if (withdrawn) facts.push({ kind: 'disputed', ...moved, ...of });
  }
  return facts;
}

/** All that ever went back of a payment, cents. */
export function returnedCents({ latest_charge: charge }: Stripe.PaymentIntent): number {
  return typeof charge === 'object' ? (charge?.amount_refunded ?? 0) : 0;
}

/** Whether a dispute has taken its money, and given it back. An inquiry takes none. */
export function movedBy({ status }: Stripe.Dispute): { withdrawn: boolean; reinstated: boolean } {
  const withdrawn = !status.startsWith('warning_') && status !== 'prevented';
  return { withdrawn, reinstated: status === 'won' };
}
