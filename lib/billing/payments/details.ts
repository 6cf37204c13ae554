import type { Pool } from 'pg';
import type Stripe from 'stripe';
import { refreshCard } from '#lib/billing/payments/card';

/**
 * Keeps what a payment leaves behind at Stripe beside its money: the receipt, and the card where its holder agreed to
 * that. It follows the credit and may be repeated.
 * @throws Error of Stripe's client or the database.
 */
export async function noteDetails(pool: Pool, stripe: Stripe, paymentIntent: string): Promise<void> {
  const intent = await stripe.paymentIntents.retrieve(paymentIntent, { expand: ['latest_charge'] });
  const charge = typeof intent.latest_charge === 'object' ? intent.latest_charge : null;
  await pool.query('UPDATE top_up SET receipt_url = coalesce($2, receipt_url) WHERE payment_intent = $1', [
    paymentIntent,
    charge?.receipt_url ?? null,
  ]);
  const [customer, card] = [idOf(intent.customer), idOf(intent.payment_method)];
  if (intent.setup_future_usage !== 'off_session' || customer === null || card === null) return;
  await stripe.customers.update(customer, { invoice_settings: { default_payment_method: card } });
  await refreshCard(pool, stripe, { customer, paymentMethod: card });
}

function idOf(named: string | { id: string } | null): string | null {
  return typeof named === 'string' ? named : (named?.id ?? null);
}
