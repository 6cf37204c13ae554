import type { Pool } from 'pg';
import type Stripe from 'stripe';
import { pauseAutoTopUp } from '#lib/control/billing/auto/pause';
import { transact } from '#lib/platform/data/transaction/transaction';

const limits = { lockMs: 5_000, statementMs: 10_000 };

/**
 * Keeps which card Stripe has for a customer: the default one, else the newest. Without one, automatic top-ups pause.
 * What is kept is what Stripe says now, so that it does not depend on the order of events.
 * @param named a customer, or a card that one had; those of strangers change nothing.
 * @throws Error of Stripe's client or the database.
 */
export async function refreshCard(
  pool: Pool,
  stripe: Stripe,
  named: { readonly customer: string | null; readonly paymentMethod: string | null },
): Promise<void> {
  const { rows } = await pool.query<{ customer: string; workspaceId: string }>(
    'SELECT customer, workspace_id AS "workspaceId" FROM payer WHERE customer = $1 OR payment_method = $2',
    [named.customer, named.paymentMethod],
  );
  for (const { customer, workspaceId } of rows) {
    const card = await cardOf(stripe, customer);
    await transact(pool, limits, async (tx) => {
      await tx.query(
        `UPDATE payer SET payment_method = $2, card_brand = $3, card_last4 = $4, card_expires = $5
         WHERE customer = $1`,
        [customer, card?.id ?? null, card?.card?.brand ?? null, card?.card?.last4 ?? null, expiryOf(card)],
      );
      if (card === null) await pauseAutoTopUp(tx, workspaceId, 'no_card', null);
    });
  }
}

async function cardOf(stripe: Stripe, id: string): Promise<Stripe.PaymentMethod | null> {
  const customer = await stripe.customers.retrieve(id);
  if (customer.deleted) return null;
  const chosen = customer.invoice_settings.default_payment_method;
  const { data } = await stripe.customers.listPaymentMethods(id, { type: 'card', limit: 100 });
  const wanted = typeof chosen === 'string' ? chosen : chosen?.id;
  return data.find((one) => one.id === wanted) ?? data[0] ?? null;
}

/** "2034-12". */
function expiryOf(method: Stripe.PaymentMethod | null): string | null {
  if (!method?.card) return null;
  return `${method.card.exp_year}-${String(method.card.exp_month).padStart(2, '0')}`;
}
