import type { Pool } from 'pg';
import type Stripe from 'stripe';
import { paidByIntent } from '#lib/control/billing/payments/fact';

/**
 * Makes an order again that Stripe took money for and that this database has lost, with its customer: one that was
 * restored from an older copy. It is never charged: its payment is there.
 */
export async function restoreOrder(pool: Pool, intent: Stripe.PaymentIntent): Promise<void> {
  const fact = paidByIntent(intent);
  const cents = Number(intent.metadata.cents);
  if (fact === null || fact.workspaceId === null) return;
  if (!Number.isSafeInteger(cents) || cents <= 0 || cents > fact.paidCents) return;
  const { rowCount } = await pool.query(
    `INSERT INTO top_up (id, workspace_id, created_at, cents, fee_cents, livemode, auto, status, customer)
     SELECT $1::uuid, id, to_timestamp($3), $4, $5, $6, $7, 'expired', $8 FROM workspace WHERE id::text = $2
     ON CONFLICT DO NOTHING`,
    [
      fact.orderId,
      fact.workspaceId,
      intent.created,
      cents,
      fact.paidCents - cents,
      intent.livemode,
      intent.metadata.auto === 'true',
      fact.customer,
    ],
  );
  if (rowCount !== 1 || fact.customer === null) return;
  await pool.query(
    `INSERT INTO payer (workspace_id, livemode, customer) VALUES ($1::uuid, $2, $3) ON CONFLICT DO NOTHING`,
    [fact.workspaceId, intent.livemode, fact.customer],
  );
}
