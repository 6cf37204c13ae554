import type Stripe from 'stripe';
import type {
  Charge,
  Customer,
  Dispute,
  Intent,
  PaymentMethod,
  PortalSession,
  Refund,
  Session,
  StandInObject,
} from '#tools/sandbox/payments/objects';

const place = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null };
const holder = { address: place, email: null, name: null, phone: null, tax_id: null };

const card: Omit<Stripe.PaymentMethod.Card, 'last4'> = {
  brand: 'visa',
  checks: null,
  country: 'US',
  display_brand: 'visa',
  exp_month: 12,
  exp_year: 2034,
  funding: 'credit',
  generated_from: null,
  networks: null,
  regulated_status: null,
  three_d_secure_usage: null,
  wallet: null,
};

/** The members of Stripe's object that the stand-in's does not have. */
type Others<Stripes, Own> = Omit<Stripes, keyof Own>;

/**
 * The constant members of each kind of object. The types are those of Stripe's own client, which are generated from its
 * OpenAPI description: if a member that Stripe always sends is missing here, this does not compile.
 */
const constants: {
  readonly 'checkout.session': Others<Stripe.Checkout.Session, Session>;
  readonly payment_intent: Others<Stripe.PaymentIntent, Intent>;
  readonly charge: Others<Stripe.Charge, Charge>;
  readonly customer: Others<Stripe.Customer, Customer & { invoice_settings: unknown }>;
  readonly payment_method: Others<Stripe.PaymentMethod, PaymentMethod & { card?: unknown }>;
  readonly refund: Others<Stripe.Refund, Refund>;
  readonly dispute: Others<Stripe.Dispute, Dispute & { evidence: unknown }>;
  /** The members of an invoice that the gateway reads; Stripe's has many more. */
  readonly invoice: Pick<Stripe.Invoice, 'status' | 'livemode'>;
  readonly 'billing_portal.session': Others<Stripe.BillingPortal.Session, PortalSession>;
} = {
  'checkout.session': {
    adaptive_pricing: null,
    after_expiration: null,
    allow_promotion_codes: null,
    allowed_payment_method_types: null,
    automatic_tax: { enabled: false, liability: null, provider: null, status: null },
    billing_address_collection: null,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    currency_conversion: null,
    custom_fields: [],
    custom_text: {
      after_submit: null,
      shipping_address: null,
      submit: null,
      terms_of_service_acceptance: null,
    },
    customer_account: null,
    customer_creation: null,
    customer_details: null,
    customer_email: null,
    discounts: null,
    integration_identifier: null,
    invoice_creation: null,
    locale: null,
    managed_payments: null,
    origin_context: null,
    payment_link: null,
    payment_method_collection: null,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: ['card'],
    permissions: null,
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    submit_type: null,
    subscription: null,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: null,
    wallet_options: null,
  },
  payment_intent: {
    allowed_payment_method_types: null,
    amount_capturable: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic',
    client_secret: null,
    confirmation_method: 'automatic',
    customer_account: null,
    description: null,
    excluded_payment_method_types: null,
    managed_payments: null,
    next_action: null,
    on_behalf_of: null,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: ['card'],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    transfer_group: null,
  },
  charge: {
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: null,
    billing_details: holder,
    calculated_statement_descriptor: null,
    captured: true,
    description: null,
    failure_balance_transaction: null,
    failure_code: null,
    failure_message: null,
    fraud_details: {},
    livemode: false,
    on_behalf_of: null,
    outcome: null,
    paid: true,
    payment_method_details: null,
    receipt_email: null,
    receipt_number: null,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: 'succeeded',
    transfer_data: null,
    transfer_group: null,
  },
  customer: {
    balance: 0,
    default_source: null,
    description: null,
    email: null,
    livemode: false,
    shipping: null,
  },
  payment_method: {
    billing_details: holder,
    customer_account: null,
    livemode: false,
    metadata: {},
    type: 'card',
  },
  refund: {
    balance_transaction: null,
    customer: null,
    customer_account: null,
    metadata: {},
    payment_method: null,
    reason: null,
    receipt_number: null,
    source_transfer_reversal: null,
    transfer_reversal: null,
  },
  dispute: {
    balance_transactions: [],
    enhanced_eligibility_types: [],
    evidence_details: {
      due_by: null,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'manual',
    },
    intended_submission_method: 'manual',
    is_charge_refundable: false,
    livemode: false,
    metadata: {},
    reason: 'fraudulent',
  },
  invoice: { status: 'paid', livemode: false },
  'billing_portal.session': {
    configuration: 'bpc_stand_in',
    customer_account: null,
    flow: null,
    livemode: false,
    locale: null,
    on_behalf_of: null,
  },
};

/** An object as Stripe's API shows it. */
export function shown(object: StandInObject): object {
  const others = constants[object.object];
  if (object.object === 'customer') {
    const { default_payment_method, ...customer } = object;
    const settings = { custom_fields: null, default_payment_method, footer: null, rendering_options: null };
    return { ...others, invoice_settings: settings, ...customer };
  }
  if (object.object === 'payment_method') {
    const { last4, mood: _, ...method } = object;
    return { ...others, card: { ...card, last4 }, ...method };
  }
  return { ...others, ...object };
}
