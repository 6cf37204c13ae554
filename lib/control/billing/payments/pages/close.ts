import type { Pool } from 'pg';
import Stripe from 'stripe';
import type { Payments } from '#lib/control/billing/payments/client';
import { isMissing } from '#lib/control/billing/payments/customer';

const AT_ONCE = 20;

/** Takes orders for a minute, so that no other process asks Stripe for the same ones. */
const take = `
  UPDATE top_up SET next_try_at = now() + interval '1 minute'
  WHERE id IN (
    SELECT t.id FROM workspace w JOIN top_up t ON t.workspace_id = w.id
    WHERE (w.deleted_at IS NOT NULL OR t.canceled_at IS NOT NULL) AND t.status = 'open' AND t.session_id IS NOT NULL AND t.livemode = $1::boolean
      AND (t.next_try_at IS NULL OR t.next_try_at <= now())
    LIMIT ${AT_ONCE} FOR UPDATE OF t SKIP LOCKED)
  RETURNING id, session_id AS "sessionId"`;

const close = `UPDATE top_up SET status = 'expired', next_try_at = NULL WHERE id = $1::uuid AND status = 'open'`;
const lookLater = `UPDATE top_up SET next_try_at = now() + interval '1 hour' WHERE id = $1::uuid AND status = 'open'`;

/**
 * Closes the pages on which top-ups that were canceled, or of deleted workspaces, could still be paid (contract: money/top-up-order). A payment
 * that was made before stays what it is.
 * @throws Error of Stripe's client or the database; what is left is tried again in a minute.
 */
export async function closePages(
  pool: Pool,
  { stripe, livemode }: Pick<Payments, 'stripe' | 'livemode'>,
): Promise<void> {
  const { rows } = await pool.query<{ id: string; sessionId: string }>(take, [livemode]);
  for (const { id, sessionId } of rows) {
    await pool.query((await expire(stripe, sessionId)) ? close : lookLater, [id]);
  }
}

/**
 * Closes the page of one top-up that was canceled, unless it is closed or being paid.
 * @throws Error of Stripe's client or the database; `closePages` tries again.
 */
export async function closePage(
  pool: Pool,
  { stripe }: Pick<Payments, 'stripe'>,
  topUpId: string,
): Promise<void> {
  const { rows } = await pool.query<{ sessionId: string | null }>(
    `SELECT session_id AS "sessionId" FROM top_up
     WHERE id = $1::uuid AND status = 'open' AND canceled_at IS NOT NULL`,
    [topUpId],
  );
  const [page] = rows;
  if (page && (page.sessionId === null || (await expire(stripe, page.sessionId))))
    await pool.query(close, [topUpId]);
}

/** @returns false if it was paid, or may still be: some payments take days to arrive. */
async function expire(stripe: Stripe, sessionId: string): Promise<boolean> {
  const { sessions } = stripe.checkout;
  try {
    await sessions.expire(sessionId);
    return true;
  } catch (error) {
    if (isMissing(error)) return true;
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
    // Stripe refuses pages that are no longer open.
    return (await sessions.retrieve(sessionId)).status === 'expired';
  }
}
