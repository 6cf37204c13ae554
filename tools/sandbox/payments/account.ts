import { type Form, listIn, textIn, textsIn } from '#tools/sandbox/payments/form';
import {
  type CardMood,
  type Charge,
  type Customer,
  type Dispute,
  type Intent,
  type Invoice,
  newId,
  type PaymentMethod,
  type PortalSession,
  type Refund,
  type Session,
  type StandInObject,
  type StripeEvent,
} from '#tools/sandbox/payments/objects';
import { shown } from '#tools/sandbox/payments/shown';

const DAY_SECONDS = 86_400;
const declined = {
  declines: {
    type: 'card_error',
    code: 'card_declined',
    decline_code: 'insufficient_funds',
    message: 'Your card has insufficient funds.',
  },
  asks: {
    type: 'card_error',
    code: 'authentication_required',
    decline_code: 'authentication_required',
    message: 'Your card was declined. This transaction requires authentication.',
  },
} as const;

/** One account of the stand-in, and what people and programs do with it. */
export class Account {
  readonly sessions = new Map<string, Session>();
  readonly intents = new Map<string, Intent>();
  readonly charges = new Map<string, Charge>();
  readonly customers = new Map<string, Customer>();
  readonly methods = new Map<string, PaymentMethod>();
  readonly refunds = new Map<string, Refund>();
  readonly disputes = new Map<string, Dispute>();
  readonly invoices = new Map<string, Invoice>();
  readonly portals = new Map<string, PortalSession>();
  readonly events: StripeEvent[] = [];
  /** Called with each event as it happens. */
  onEvent: (event: StripeEvent) => void = () => {};

  private readonly origin: string;
  private readonly nowSeconds: () => number;

  constructor(origin: string, nowSeconds: () => number) {
    this.origin = origin;
    this.nowSeconds = nowSeconds;
  }

  createCustomer(form: Form): Customer {
    const customer: Customer = {
      id: newId('cus'),
      object: 'customer',
      created: this.nowSeconds(),
      metadata: textsIn(form, 'metadata'),
      default_payment_method: null,
    };
    this.customers.set(customer.id, customer);
    return customer;
  }

  updateCustomer(customer: Customer, form: Form): Customer {
    Object.assign(customer.metadata, textsIn(form, 'metadata'));
    const chosen = textIn(form, 'invoice_settings', 'default_payment_method');
    if (chosen) customer.default_payment_method = chosen;
    this.emit('customer.updated', customer);
    return customer;
  }

  createSession(form: Form): Session {
    const items = listIn(form, 'line_items');
    const total = items.reduce(
      (sum, one) => sum + Number(textIn(one, 'quantity')) * Number(textIn(one, 'price_data', 'unit_amount')),
      0,
    );
    const currency = textIn(items[0] ?? {}, 'price_data', 'currency');
    const saves = textIn(form, 'payment_intent_data', 'setup_future_usage') === 'off_session';
    const intent = this.addIntent({
      amount: total,
      currency,
      customer: this.customerIn(form) || this.createCustomer({}).id,
      metadata: textsIn(form, 'payment_intent_data', 'metadata'),
      setup_future_usage: saves ? 'off_session' : null,
    });
    const id = newId('cs_test');
    const session: Session = {
      id,
      object: 'checkout.session',
      status: 'open',
      payment_status: 'unpaid',
      mode: 'payment',
      url: `${this.origin}/pay/${id}`,
      amount_total: total,
      amount_subtotal: total,
      currency,
      client_reference_id: textIn(form, 'client_reference_id') || null,
      customer: intent.customer,
      metadata: textsIn(form, 'metadata'),
      payment_intent: intent.id,
      invoice: textIn(form, 'invoice_creation', 'enabled') === 'true' ? this.addInvoice(intent) : null,
      success_url: textIn(form, 'success_url'),
      cancel_url: textIn(form, 'cancel_url') || textIn(form, 'success_url'),
      livemode: false,
      created: intent.created,
      expires_at: intent.created + DAY_SECONDS,
    };
    this.sessions.set(id, session);
    return session;
  }

  /** The customer that a request names; '': none. */
  private customerIn(form: Form): string {
    const named = textIn(form, 'customer');
    if (named !== '' && !this.customers.has(named)) throw new RangeError(`No such customer: '${named}'`);
    return named;
  }

  /** A payment without its cardholder. @returns it; its `last_payment_error` says why it failed. */
  chargeSaved(form: Form): Intent {
    const method = this.methods.get(textIn(form, 'payment_method'));
    if (!method?.customer || method.customer !== textIn(form, 'customer')) {
      throw new RangeError(`No such PaymentMethod: '${textIn(form, 'payment_method')}'`);
    }
    const intent = this.addIntent({
      amount: Number(textIn(form, 'amount')),
      currency: textIn(form, 'currency'),
      customer: method.customer,
      metadata: textsIn(form, 'metadata'),
      setup_future_usage: null,
    });
    if (method.mood !== 'pays') {
      intent.last_payment_error = declined[method.mood];
      this.emit('payment_intent.payment_failed', intent);
      return intent;
    }
    intent.payment_method = method.id;
    this.succeed(intent);
    return intent;
  }

  /** The card is charged, and saved if the session asks for that. */
  pay(session: Session, mood: CardMood = 'pays'): void {
    const intent = this.intentOf(session);
    if (intent.setup_future_usage) intent.payment_method = this.addCard(intent.customer ?? '', mood).id;
    Object.assign(session, { status: 'complete', payment_status: 'paid', url: null });
    this.succeed(intent);
    this.emit('checkout.session.completed', session);
  }

  addCard(customer: string, mood: CardMood): PaymentMethod {
    const method: PaymentMethod = {
      id: newId('pm'),
      object: 'payment_method',
      created: this.nowSeconds(),
      customer,
      last4: { pays: '4242', declines: '0341', asks: '3184' }[mood],
      mood,
    };
    this.methods.set(method.id, method);
    this.emit('payment_method.attached', method);
    return method;
  }

  removeCard(method: PaymentMethod): void {
    const owner = this.customers.get(method.customer ?? '');
    if (owner?.default_payment_method === method.id) owner.default_payment_method = null;
    method.customer = null;
    this.emit('payment_method.detached', method);
  }

  cardsOf(customer: string): PaymentMethod[] {
    return [...this.methods.values()].filter((one) => one.customer === customer).toReversed();
  }

  /** A payment method whose money arrives days later, or never. */
  payLater(session: Session): void {
    this.intentOf(session).status = 'processing';
    Object.assign(session, { status: 'complete', payment_status: 'unpaid', url: null });
    this.emit('checkout.session.completed', session);
  }

  fail(session: Session): void {
    this.intentOf(session).status = 'requires_payment_method';
    this.emit('checkout.session.async_payment_failed', session);
  }

  decline(session: Session): void {
    const intent = this.intentOf(session);
    intent.last_payment_error = declined.declines;
    this.emit('payment_intent.payment_failed', intent);
  }

  expire(session: Session): void {
    Object.assign(session, { status: 'expired', url: null });
    this.emit('checkout.session.expired', session);
  }

  /** @param status `requires_action`: the payer must first say where the money goes. */
  refund(intentId: string, cents: number, status: 'requires_action' | 'succeeded' = 'succeeded'): Refund {
    const charge = this.chargeOf(intentId);
    const amount = Math.min(cents, charge.amount - charge.amount_refunded);
    charge.amount_refunded += amount;
    charge.refunded = charge.amount_refunded === charge.amount;
    const refund: Refund = {
      id: newId('re'),
      object: 'refund',
      amount,
      charge: charge.id,
      payment_intent: intentId,
      currency: charge.currency,
      created: this.nowSeconds(),
      status,
    };
    this.refunds.set(refund.id, refund);
    this.emit('charge.refunded', charge);
    return refund;
  }

  /**
   * A refund fails, even weeks after it succeeded if a bank sends the money back: the money belongs to the account
   * again. A refund that waits for an answer is canceled.
   */
  failRefund(refund: Refund): void {
    if (refund.status === 'failed' || refund.status === 'canceled') return;
    const charge = this.chargeOf(refund.payment_intent);
    charge.amount_refunded -= refund.amount;
    charge.refunded = false;
    const waits = refund.status === 'requires_action';
    refund.status = waits ? 'canceled' : 'failed';
    refund.failure_reason = waits ? 'merchant_request' : 'expired_or_canceled_card';
    if (!waits) this.emit('refund.failed', refund);
    this.emit('refund.updated', refund);
    this.emit('charge.refund.updated', refund);
  }

  /** A dispute of a charge that ends as `won` or `lost`; null: not yet. @param cents the whole charge if absent. */
  dispute(intentId: string, end: 'won' | 'lost' | null, cents?: number): void {
    const charge = this.chargeOf(intentId);
    charge.disputed = true;
    const dispute: Dispute = {
      id: newId('dp'),
      object: 'dispute',
      amount: cents ?? charge.amount,
      currency: charge.currency,
      charge: charge.id,
      payment_intent: intentId,
      created: this.nowSeconds(),
      status: 'needs_response',
    };
    this.disputes.set(dispute.id, dispute);
    this.emit('charge.dispute.created', dispute);
    this.emit('charge.dispute.funds_withdrawn', dispute);
    if (end === null) return;
    dispute.status = end;
    this.emit('charge.dispute.closed', dispute);
    if (end === 'won') this.emit('charge.dispute.funds_reinstated', dispute);
  }

  openPortal(form: Form): PortalSession {
    const id = newId('bps');
    const portal: PortalSession = {
      id,
      object: 'billing_portal.session',
      customer: this.customerIn(form),
      return_url: textIn(form, 'return_url') || null,
      url: `${this.origin}/portal/${id}`,
      created: this.nowSeconds(),
    };
    this.portals.set(id, portal);
    return portal;
  }

  emit(type: string, object: StandInObject): void {
    const event: StripeEvent = {
      id: newId('evt'),
      object: 'event',
      type,
      created: this.nowSeconds(),
      livemode: false,
      data: { object: structuredClone(shown(object)) },
    };
    this.events.push(event);
    this.onEvent(event);
  }

  private addIntent(
    facts: Pick<Intent, 'amount' | 'currency' | 'customer' | 'metadata' | 'setup_future_usage'>,
  ) {
    const intent: Intent = {
      id: newId('pi'),
      object: 'payment_intent',
      status: 'requires_payment_method',
      amount_received: 0,
      created: this.nowSeconds(),
      latest_charge: null,
      payment_method: null,
      last_payment_error: null,
      livemode: false,
      ...facts,
    };
    this.intents.set(intent.id, intent);
    return intent;
  }

  private addInvoice(intent: Intent): string {
    const id = newId('in');
    const address = `${this.origin}/invoices/${id}`;
    this.invoices.set(id, {
      id,
      object: 'invoice',
      amount_paid: intent.amount,
      currency: intent.currency,
      customer: intent.customer,
      hosted_invoice_url: address,
      invoice_pdf: `${address}/pdf`,
      created: intent.created,
    });
    return id;
  }

  private succeed(intent: Intent): void {
    const charge: Charge = {
      id: newId('ch'),
      object: 'charge',
      amount: intent.amount,
      amount_captured: intent.amount,
      amount_refunded: 0,
      refunded: false,
      disputed: false,
      currency: intent.currency,
      customer: intent.customer,
      payment_intent: intent.id,
      payment_method: intent.payment_method,
      // As at Stripe, the address names neither the payment nor the charge.
      receipt_url: `${this.origin}/receipts/${newId('receipt')}`,
      metadata: intent.metadata,
      created: this.nowSeconds(),
    };
    this.charges.set(charge.id, charge);
    Object.assign(intent, { status: 'succeeded', amount_received: intent.amount, latest_charge: charge.id });
    this.emit('payment_intent.succeeded', intent);
  }

  private intentOf(session: Session): Intent {
    const intent = this.intents.get(session.payment_intent ?? '');
    if (!intent) throw new Error(`session ${session.id} has no intent`);
    return intent;
  }

  private chargeOf(intentId: string): Charge {
    const charge = this.charges.get(this.intents.get(intentId)?.latest_charge ?? '');
    if (!charge) throw new Error(`intent ${intentId} was not paid`);
    return charge;
  }
}
