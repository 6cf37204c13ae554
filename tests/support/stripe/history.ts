import fc from 'fast-check';
import type Stripe from 'stripe';
import type { Truth } from '#lib/control/billing/reconcile/truth';
import type { Account } from '#tools/sandbox/payments/account';
import { readForm } from '#tools/sandbox/payments/form';
import type { Refund, Session, StandInObject, StripeEvent } from '#tools/sandbox/payments/objects';
import { shown } from '#tools/sandbox/payments/shown';

/** What happens to a payment after it was made; amounts in hundredths of it. */
export type Later =
  | { readonly what: 'refund'; readonly part: number; readonly waits?: boolean }
  /** The first refund that has not failed fails. */
  | { readonly what: 'failed refund' }
  | { readonly what: 'dispute'; readonly part: number; readonly end: 'won' | 'lost' | null };

export interface Order {
  readonly cents: number;
  readonly feeCents: number;
  readonly auto: boolean;
  readonly paid: boolean;
  readonly later: readonly Later[];
}

const part = fc.integer({ min: 1, max: 100 });
const later: fc.Arbitrary<Later> = fc.oneof(
  fc.record({ what: fc.constant('refund' as const), part, waits: fc.boolean() }),
  fc.constant({ what: 'failed refund' as const }),
  fc.record({
    what: fc.constant('dispute' as const),
    part,
    end: fc.constantFrom('won' as const, 'lost' as const, null),
  }),
);

/** What may happen in a workspace, manually and automatically. */
export const orders: fc.Arbitrary<Order[]> = fc.array(
  fc.record({
    cents: fc.integer({ min: 500, max: 1_000_000 }),
    feeCents: fc.integer({ min: 0, max: 999 }),
    auto: fc.boolean(),
    paid: fc.boolean(),
    later: fc.array(later, { maxLength: 6 }),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Applies the orders to an account. @returns the payment of each order. */
export function live(
  account: Account,
  workspaceId: string,
  all: readonly (Order & { readonly id: string; readonly customer: string })[],
): string[] {
  return all.map(({ id, customer, cents, feeCents, auto, paid, later }) => {
    const metadata = `metadata[order]=${id}&metadata[workspace]=${workspaceId}&metadata[cents]=${cents}`;
    const payment = auto
      ? account.chargeSaved(
          readForm(
            `${metadata}&amount=${cents + feeCents}&currency=usd&customer=${customer}&payment_method=${
              account.addCard(customer, paid ? 'pays' : 'declines').id
            }`,
          ),
        ).id
      : checkout(account, id, customer, cents + feeCents, metadata, paid);
    if (!paid) return payment;
    for (const one of later) happen(account, payment, one);
    return payment;
  });
}

/** Applies one event to a payment. */
export function happen(account: Account, payment: string, one: Later): void {
  if (one.what === 'failed refund') {
    const first = refundsOf(account, payment).find(({ failure_reason }) => failure_reason === undefined);
    if (first) account.failRefund(first);
    return;
  }
  const whole = account.intents.get(payment)?.amount ?? 0;
  const some = Math.max(1, Math.floor((whole * one.part) / 100));
  if (one.what === 'dispute') account.dispute(payment, one.end, some);
  else account.refund(payment, some, one.waits ? 'requires_action' : 'succeeded');
}

function refundsOf(account: Account, payment: string): Refund[] {
  return [...account.refunds.values()].filter((one) => one.payment_intent === payment);
}

function checkout(
  account: Account,
  id: string,
  customer: string,
  cents: number,
  metadata: string,
  paid: boolean,
): string {
  const item = `line_items[0][quantity]=1&line_items[0][price_data][unit_amount]=${cents}&line_items[0][price_data][currency]=usd`;
  const inner = metadata.replaceAll('metadata[', 'payment_intent_data[metadata][');
  const session: Session = account.createSession(
    readForm(`client_reference_id=${id}&customer=${customer}&${metadata}&${inner}&${item}`),
  );
  if (paid) account.pay(session);
  else account.expire(session);
  return session.payment_intent ?? '';
}

/** The events in the order of the numbers, some of them twice. */
export function shuffled(events: readonly StripeEvent[], numbers: readonly number[]): StripeEvent[] {
  const at = (place: number) => numbers[place % numbers.length] ?? 0;
  const twice = events.filter((_, place) => at(place) % 3 === 0);
  return [...events, ...twice]
    .map((event, place) => ({ event, key: (at(place) * 7_919 + place * 104_729) % 1_000_003 }))
    .sort((one, other) => one.key - other.key)
    .map(({ event }) => event);
}

export function permutations<One>(all: readonly One[]): One[][] {
  if (all.length <= 1) return [[...all]];
  return all.flatMap((one, at) => permutations(all.toSpliced(at, 1)).map((rest) => [one, ...rest]));
}

/** What Stripe would list for a payment. */
export function truthOf(account: Account, payment: string): Truth {
  const intent = account.intents.get(payment);
  if (!intent) throw new Error(`there is no payment ${payment}`);
  const charge = account.charges.get(intent.latest_charge ?? '');
  const disputes = [...account.disputes.values()].filter((one) => one.payment_intent === payment);
  // Disputes have no evidence here, because the gateway does not read it.
  const seen = <One>(object: StandInObject) => shown(object) as One;
  return {
    intent: {
      ...seen<Stripe.PaymentIntent>(intent),
      latest_charge: charge ? seen<Stripe.Charge>(charge) : null,
    },
    refunds: refundsOf(account, payment).map((one) => seen<Stripe.Refund>(one)),
    disputes: disputes.map((one) => seen<Stripe.Dispute>(one)),
  };
}

/** The stand-in's events have the shapes of Stripe's (tools/sandbox/payments/shown.ts). */
export function eventOf(event: StripeEvent): Stripe.Event {
  return event as unknown as Stripe.Event;
}
