import { randomBytes } from 'node:crypto';

/** Objects of the stand-in: the members that it decides. `shown.ts` adds the other members of Stripe's objects. */
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
  invoice: string | null;
  success_url: string;
  cancel_url: string;
  livemode: boolean;
  created: number;
  expires_at: number;
}

export interface Charge {
  id: string;
  object: 'charge';
  amount: number;
  amount_captured: number;
  amount_refunded: number;
  refunded: boolean;
  disputed: boolean;
  currency: string;
  customer: string | null;
  payment_intent: string;
  payment_method: string | null;
  receipt_url: string;
  metadata: Record<string, string>;
  created: number;
}

export interface PaymentError {
  type: 'card_error';
  code: 'card_declined' | 'authentication_required';
  decline_code: string;
  message: string;
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
  payment_method: string | null;
  setup_future_usage: 'off_session' | null;
  last_payment_error: PaymentError | null;
  livemode: boolean;
}

export interface Customer {
  id: string;
  object: 'customer';
  created: number;
  metadata: Record<string, string>;
  /** Stripe gives it inside `invoice_settings`. */
  default_payment_method: string | null;
}

/** What a card does when it is charged without its cardholder. */
export type CardMood = 'pays' | 'declines' | 'asks';

export interface PaymentMethod {
  id: string;
  object: 'payment_method';
  created: number;
  customer: string | null;
  last4: string;
  /** Not one of Stripe's members. */
  mood: CardMood;
}

export interface Refund {
  id: string;
  object: 'refund';
  amount: number;
  charge: string;
  payment_intent: string;
  currency: string;
  created: number;
  status: 'requires_action' | 'succeeded' | 'failed' | 'canceled';
  failure_reason?: 'expired_or_canceled_card' | 'merchant_request';
}

export interface Dispute {
  id: string;
  object: 'dispute';
  amount: number;
  currency: string;
  charge: string;
  payment_intent: string;
  created: number;
  status: 'warning_needs_response' | 'needs_response' | 'won' | 'lost';
}

export interface Invoice {
  id: string;
  object: 'invoice';
  amount_paid: number;
  currency: string;
  customer: string | null;
  hosted_invoice_url: string;
  invoice_pdf: string;
  created: number;
}

export interface PortalSession {
  id: string;
  object: 'billing_portal.session';
  customer: string;
  return_url: string | null;
  url: string;
  created: number;
}

export interface StripeEvent {
  id: string;
  object: 'event';
  type: string;
  created: number;
  livemode: boolean;
  data: { object: object };
}

export type StandInObject =
  | Session
  | Charge
  | Intent
  | Customer
  | PaymentMethod
  | Refund
  | Dispute
  | Invoice
  | PortalSession;

export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}
