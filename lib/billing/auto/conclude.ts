import { type PauseReason, pauseAutoTopUp } from '#lib/billing/auto/pause';
import type { PaymentStore } from '#lib/billing/payments/store';

/**
 * What the arrival of money means for the automatic top-ups of a workspace: an automatic order has ended with it, one
 * that is due is not needed where the balance is above the threshold again; where it is still below, the next usage
 * counts as another crossing.
 */
export async function concludePaid(tx: PaymentStore, workspaceId: string, orderId: string): Promise<void> {
  await tx.query(
    `UPDATE auto_top_up a SET armed = w.balance_nano < a.threshold_nano,
       due_at = CASE WHEN a.order_id = $2::uuid OR (a.order_id IS NULL AND w.balance_nano >= a.threshold_nano)
         THEN NULL ELSE a.due_at END,
       order_id = nullif(a.order_id, $2::uuid)
     FROM workspace w WHERE w.id = a.workspace_id AND a.workspace_id = $1::uuid`,
    [workspaceId, orderId],
  );
}

/**
 * An automatic order ends without money, once, and pauses what it came from.
 * @returns whether it was open until now.
 */
export async function concludeFailed(
  tx: PaymentStore,
  orderId: string,
  reason: PauseReason,
  detail: string | null,
): Promise<boolean> {
  const workspaceId = await endUnpaid(tx, orderId, { failure: detail ?? reason, armed: false });
  if (workspaceId === null) return false;
  await pauseAutoTopUp(tx, workspaceId, reason, detail);
  return true;
}

/**
 * An automatic order that nobody wants any more ends without money. It pauses nothing: where top-ups go on, the next
 * usage below the threshold orders another one.
 */
export async function concludeStopped(tx: PaymentStore, orderId: string): Promise<void> {
  await endUnpaid(tx, orderId, { failure: 'stopped', armed: true });
}

/** @returns the workspace; null: the order was not open. */
async function endUnpaid(
  tx: PaymentStore,
  orderId: string,
  { failure, armed }: { readonly failure: string; readonly armed: boolean },
): Promise<string | null> {
  const [ended] = await tx.rows<{ workspaceId: string }>(
    `UPDATE top_up SET status = 'failed', failure = $2, next_try_at = NULL
     WHERE id = $1::uuid AND auto AND status = 'open' RETURNING workspace_id AS "workspaceId"`,
    [orderId, failure],
  );
  if (!ended) return null;
  await tx.query(
    `UPDATE auto_top_up SET due_at = NULL, order_id = NULL, armed = $3::boolean
     WHERE workspace_id = $1::uuid AND order_id = $2::uuid`,
    [ended.workspaceId, orderId, armed],
  );
  return ended.workspaceId;
}
