import type { Pool } from 'pg';
import type Stripe from 'stripe';
import { refreshCard } from '#lib/control/billing/payments/card';
import { isMissing } from '#lib/control/billing/payments/customer';
import { idOf } from '#lib/control/billing/payments/fact';

/**
 * Stores the details of a payment at Stripe: the card, if its holder agreed to that, then the receipt and the invoice,
 * so that the card is there when these are shown. Runs after the credit and may be repeated.
 * @throws Error of Stripe's client or the database.
 */
export async function noteDetails(pool: Pool, stripe: Stripe, paymentIntent: string): Promise<void> {
  const intent = await stripe.paymentIntents.retrieve(paymentIntent, { expand: ['latest_charge'] });
  const [customer, card] = [idOf(intent.customer), idOf(intent.payment_method)];
  if (intent.setup_future_usage === 'off_session' && customer !== null && card !== null) {
    await keepCard(pool, stripe, customer, card);
  }
  const charge = typeof intent.latest_charge === 'object' ? intent.latest_charge : null;
  const { rows } = await pool.query<{ session: string | null }>(
    `UPDATE top_up SET receipt_url = coalesce($2, receipt_url) WHERE payment_intent = $1
     RETURNING session_id AS session`,
    [paymentIntent, charge?.receipt_url ?? null],
  );
  const session = rows[0]?.session ?? null;
  if (session !== null) await noteInvoice(pool, stripe, session);
}

/** Makes a card the one that automatic top-ups charge, unless it or its customer no longer exists at Stripe. */
async function keepCard(pool: Pool, stripe: Stripe, customer: string, card: string): Promise<void> {
  try {
    await stripe.customers.update(customer, { invoice_settings: { default_payment_method: card } });
    await refreshCard(pool, stripe, { customer, paymentMethod: card });
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Stores the invoice of a checkout page, if it is ready. */
async function noteInvoice(pool: Pool, stripe: Stripe, session: string): Promise<void> {
  const { invoice } = await stripe.checkout.sessions.retrieve(session, { expand: ['invoice'] });
  if (typeof invoice !== 'object' || !invoice?.hosted_invoice_url) return;
  await pool.query('UPDATE top_up SET invoice_url = $2 WHERE session_id = $1', [
    session,
    invoice.hosted_invoice_url,
  ]);
}
