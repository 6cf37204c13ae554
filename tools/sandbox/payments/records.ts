import {
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

/** The objects of one account of the stand-in. */
export class Records {
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

  protected readonly origin: string;
  protected readonly nowSeconds: () => number;

  constructor(origin: string, nowSeconds: () => number) {
    this.origin = origin;
    this.nowSeconds = nowSeconds;
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

  protected addIntent(
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

  protected addInvoice(intent: Intent): string {
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

  protected succeed(intent: Intent): void {
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

  protected intentOf(session: Session): Intent {
    const intent = this.intents.get(session.payment_intent ?? '');
    if (!intent) throw new Error(`session ${session.id} has no intent`);
    return intent;
  }

  protected chargeOf(intentId: string): Charge {
    const charge = this.charges.get(this.intents.get(intentId)?.latest_charge ?? '');
    if (!charge) throw new Error(`intent ${intentId} was not paid`);
    return charge;
  }
}
