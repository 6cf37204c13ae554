import { randomBytes } from 'node:crypto';
import { type Form, listIn, textIn } from '#tests/support/stripe/form';

/** Objects of the stand-in, as Stripe shows them; only what the gateway and its tests read. */
export interface Session {
  id: string;
  object: 'checkout.session';
  status: 'open' | 'complete' | 'expired';
  payment_status: 'unpaid' | 'paid';
  mode: 'payment';
  url: string | null;
  amount_total: number;
  amount_subtotal: number;
  currency: string;
  client_reference_id: string | null;
  customer: string | null;
  metadata: Record<string, string>;
  payment_intent: string | null;
  success_url: string;
  livemode: boolean;
}

export interface Charge {
  id: string;
  object: 'charge';
  amount: number;
  amount_refunded: number;
  refunded: boolean;
  currency: string;
  payment_intent: string;
  receipt_url: string;
  metadata: Record<string, string>;
}

export interface Intent {
  id: string;
  object: 'payment_intent';
  status: 'requires_payment_method' | 'processing' | 'succeeded';
  amount: number;
  amount_received: number;
  currency: string;
  customer: string | null;
  metadata: Record<string, string>;
  created: number;
  latest_charge: string | null;
  livemode: boolean;
}

export interface StripeEvent {
  id: string;
  object: 'event';
  type: string;
  created: number;
  livemode: boolean;
  data: { object: object };
}

/** What one account of the stand-in holds. */
export class Account {
  readonly sessions = new Map<string, Session>();
  readonly intents = new Map<string, Intent>();
  readonly charges = new Map<string, Charge>();
  readonly events: StripeEvent[] = [];
  /** Called with each event as it happens. */
  onEvent: (event: StripeEvent) => void = () => {};
  readonly #origin: string;
  readonly #nowSeconds: () => number;

  constructor(origin: string, nowSeconds: () => number) {
    this.#origin = origin;
    this.#nowSeconds = nowSeconds;
  }

  createSession(form: Form): Session {
    const items = listIn(form, 'line_items');
    const total = items.reduce(
      (sum, one) => sum + Number(textIn(one, 'quantity')) * Number(textIn(one, 'price_data', 'unit_amount')),
      0,
    );
    const currency = textIn(items[0] ?? {}, 'price_data', 'currency');
    const intent: Intent = {
      id: newId('pi'),
      object: 'payment_intent',
      status: 'requires_payment_method',
      amount: total,
      amount_received: 0,
      currency,
      customer: textIn(form, 'customer') || newId('cus'),
      metadata: textsIn(form, 'payment_intent_data', 'metadata'),
      created: this.#nowSeconds(),
      latest_charge: null,
      livemode: false,
    };
    this.intents.set(intent.id, intent);
    const id = newId('cs_test');
    const session: Session = {
      id,
      object: 'checkout.session',
      status: 'open',
      payment_status: 'unpaid',
      mode: 'payment',
      url: `${this.#origin}/pay/${id}`,
      amount_total: total,
      amount_subtotal: total,
      currency,
      client_reference_id: textIn(form, 'client_reference_id') || null,
      customer: intent.customer,
      metadata: textsIn(form, 'metadata'),
      payment_intent: intent.id,
      success_url: textIn(form, 'success_url'),
      livemode: false,
    };
    this.sessions.set(id, session);
    return session;
  }

  /** The card is charged. */
  pay(session: Session): void {
    const intent = this.#intentOf(session);
    const charge: Charge = {
      id: newId('ch'),
      object: 'charge',
      amount: intent.amount,
      amount_refunded: 0,
      refunded: false,
      currency: intent.currency,
      payment_intent: intent.id,
      receipt_url: `${this.#origin}/receipts/${intent.id}`,
      metadata: intent.metadata,
    };
    this.charges.set(charge.id, charge);
    Object.assign(intent, {
      status: 'succeeded',
      amount_received: intent.amount,
      latest_charge: charge.id,
    });
    Object.assign(session, { status: 'complete', payment_status: 'paid', url: null });
    this.emit('payment_intent.succeeded', intent);
    this.emit('checkout.session.completed', session);
  }

  /** A method whose money arrives days later, or never. */
  payLater(session: Session): void {
    this.#intentOf(session).status = 'processing';
    Object.assign(session, { status: 'complete', payment_status: 'unpaid', url: null });
    this.emit('checkout.session.completed', session);
  }

  fail(session: Session): void {
    this.#intentOf(session).status = 'requires_payment_method';
    this.emit('checkout.session.async_payment_failed', session);
  }

  decline(session: Session): void {
    this.emit('payment_intent.payment_failed', this.#intentOf(session));
  }

  expire(session: Session): void {
    Object.assign(session, { status: 'expired', url: null });
    this.emit('checkout.session.expired', session);
  }

  refund(intentId: string, cents: number): void {
    const charge = this.#chargeOf(intentId);
    charge.amount_refunded = Math.min(charge.amount, charge.amount_refunded + cents);
    charge.refunded = charge.amount_refunded === charge.amount;
    this.emit('charge.refunded', charge);
  }

  /** A dispute of the whole charge, which ends as `won`, `lost`, or not yet (null). */
  dispute(intentId: string, end: 'won' | 'lost' | null): void {
    const charge = this.#chargeOf(intentId);
    const dispute = {
      id: newId('dp'),
      object: 'dispute',
      amount: charge.amount,
      currency: charge.currency,
      charge: charge.id,
      payment_intent: intentId,
    };
    this.emit('charge.dispute.created', { ...dispute, status: 'needs_response' });
    this.emit('charge.dispute.funds_withdrawn', { ...dispute, status: 'needs_response' });
    if (end === null) return;
    this.emit('charge.dispute.closed', { ...dispute, status: end });
    if (end === 'won') this.emit('charge.dispute.funds_reinstated', { ...dispute, status: end });
  }

  emit(type: string, object: object): void {
    const event: StripeEvent = {
      id: newId('evt'),
      object: 'event',
      type,
      created: this.#nowSeconds(),
      livemode: false,
      data: { object: structuredClone(object) },
    };
    this.events.push(event);
    this.onEvent(event);
  }

  #intentOf(session: Session): Intent {
    const intent = this.intents.get(session.payment_intent ?? '');
    if (!intent) throw new Error(`session ${session.id} has no intent`);
    return intent;
  }

  #chargeOf(intentId: string): Charge {
    const charge = this.charges.get(this.intents.get(intentId)?.latest_charge ?? '');
    if (!charge) throw new Error(`intent ${intentId} was not paid`);
    return charge;
  }
}

function newId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

function textsIn(form: Form, ...path: readonly string[]): Record<string, string> {
  let at: Form | string | undefined = form;
  for (const name of path) at = typeof at === 'object' ? at[name] : undefined;
  return typeof at === 'object'
    ? Object.fromEntries(
        Object.entries(at).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
      )
    : {};
}
