import type Stripe from 'stripe';
import type {
  Charge,
  Customer,
  Dispute,
  Intent,
  Invoice,
  PaymentMethod,
  PortalSession,
  Refund,
  Session,
  StandInObject,
} from '#tools/sandbox/payments/objects';

const place = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null };
const holder = { address: place, email: null, name: null, phone: null, tax_id: null };

/**
 * An object as Stripe's API shows it. The return types are those of Stripe's own client, which are generated from its
 * OpenAPI description: if a member that Stripe always sends is missing here, this does not compile.
 */
export function shown(object: StandInObject): object {
  switch (object.object) {
    case 'checkout.session':
      return sessionOf(object);
    case 'payment_intent':
      return intentOf(object);
    case 'charge':
      return chargeOf(object);
    case 'customer':
      return customerOf(object);
    case 'payment_method':
      return methodOf(object);
    case 'refund':
      return refundOf(object);
    case 'dispute':
      return disputeOf(object);
    case 'invoice':
      return invoiceOf(object);
    case 'billing_portal.session':
      return portalOf(object);
  }
}

function sessionOf(session: Session): Stripe.Checkout.Session {
  return {
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
    ...session,
  };
}

export function intentOf({ last_payment_error, ...intent }: Intent): Stripe.PaymentIntent {
  return {
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
    last_payment_error,
    ...intent,
  };
}

export function chargeOf(charge: Charge): Stripe.Charge {
  return {
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
    ...charge,
  };
}

function customerOf({ default_payment_method, ...customer }: Customer): Stripe.Customer {
  return {
    balance: 0,
    default_source: null,
    description: null,
    email: null,
    invoice_settings: { custom_fields: null, default_payment_method, footer: null, rendering_options: null },
    livemode: false,
    shipping: null,
    ...customer,
  };
}

export function methodOf({ last4, mood: _, ...method }: PaymentMethod): Stripe.PaymentMethod {
  return {
    billing_details: holder,
    card: {
      brand: 'visa',
      checks: null,
      country: 'US',
      display_brand: 'visa',
      exp_month: 12,
      exp_year: 2034,
      funding: 'credit',
      generated_from: null,
      last4,
      networks: null,
      regulated_status: null,
      three_d_secure_usage: null,
      wallet: null,
    },
    customer_account: null,
    livemode: false,
    metadata: {},
    type: 'card',
    ...method,
  };
}

export function refundOf(refund: Refund): Stripe.Refund {
  return {
    balance_transaction: null,
    customer: null,
    customer_account: null,
    metadata: {},
    payment_method: null,
    reason: null,
    receipt_number: null,
    source_transfer_reversal: null,
    transfer_reversal: null,
    ...refund,
  };
}

function disputeOf(dispute: Dispute): Omit<Stripe.Dispute, 'evidence'> {
  return {
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
    ...dispute,
  };
}

/** What the gateway reads of an invoice; Stripe's has many more members. */
type ShownInvoice = Pick<
  Stripe.Invoice,
  | 'id'
  | 'object'
  | 'amount_paid'
  | 'currency'
  | 'customer'
  | 'hosted_invoice_url'
  | 'invoice_pdf'
  | 'created'
  | 'status'
  | 'livemode'
>;

function invoiceOf(invoice: Invoice): ShownInvoice {
  return { status: 'paid', livemode: false, ...invoice };
}

function portalOf(session: PortalSession): Stripe.BillingPortal.Session {
  return {
    configuration: 'bpc_stand_in',
    customer_account: null,
    flow: null,
    livemode: false,
    locale: null,
    on_behalf_of: null,
    ...session,
  };
}
