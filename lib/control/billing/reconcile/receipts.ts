import type { Pool } from 'pg';
import type Stripe from 'stripe';
import { noteDetails } from '#lib/control/billing/payments/details';
import type { Truth } from '#lib/control/billing/reconcile/truth';

/**
 * Stores receipts and invoices that were not ready, or could not be requested, when their payment came; receipts of the
 * listed payments without another request.
 * @throws Error of Stripe's client or the database.
 */
export async function noteReceipts(pool: Pool, stripe: Stripe, truths: readonly Truth[]): Promise<void> {
  const listed = truths.flatMap(({ intent: { id, latest_charge: charge } }) =>
    typeof charge === 'object' && charge?.receipt_url ? [[id, charge.receipt_url] as const] : [],
  );
  await pool.query(
    `UPDATE top_up t SET receipt_url = r.url FROM unnest($1::text[], $2::text[]) AS r (payment, url)
     WHERE t.payment_intent = r.payment AND t.receipt_url IS NULL`,
    [listed.map(([id]) => id), listed.map(([, url]) => url)],
  );
  const { rows } = await pool.query<{ payment: string }>(
    `SELECT payment_intent AS payment FROM top_up WHERE paid_at > now() - interval '3 days'
       AND (receipt_url IS NULL OR (invoice_url IS NULL AND session_id IS NOT NULL)) ORDER BY paid_at LIMIT 500`,
  );
  for (const { payment } of rows) await noteDetails(pool, stripe, payment);
}
