import type { PoolClient } from 'pg';
import { type PauseReason, pauseAutoTopUp } from '#lib/control/billing/auto/pause';

/**
 * An automatic order ends in the transaction that credits it. Only then, if the balance is still at or below the
 * threshold, may the next order be made.
 */
export async function concludePaid(tx: PoolClient, workspaceId: string, orderId: string): Promise<void> {
  await tx.query(leaveOrder, [workspaceId, orderId]);
}

const leaveOrder = `
  UPDATE auto_top_up SET due_at = NULL, order_id = NULL WHERE workspace_id = $1::uuid AND order_id = $2::uuid`;

/**
 * An automatic order ends without money, once, and pauses the automatic top-ups.
 * @returns whether it was open until now.
 */
export async function concludeFailed(
  tx: PoolClient,
  orderId: string,
  reason: PauseReason,
  detail: string | null,
): Promise<boolean> {
  const workspaceId = await endUnpaid(tx, orderId, detail ?? reason);
  if (workspaceId === null) return false;
  await pauseAutoTopUp(tx, workspaceId, reason, detail);
  return true;
}

/** If automatic top-ups were switched off after the order was made, it ends without money and pauses nothing. */
export async function concludeStopped(tx: PoolClient, orderId: string): Promise<void> {
  await endUnpaid(tx, orderId, 'stopped');
}

/** @returns the workspace; null: the order was not open. */
async function endUnpaid(tx: PoolClient, orderId: string, failure: string): Promise<string | null> {
  const { rows } = await tx.query<{ workspaceId: string }>(
    `UPDATE top_up SET status = 'failed', failure = $2, next_try_at = NULL
     WHERE id = $1::uuid AND auto AND status = 'open' RETURNING workspace_id AS "workspaceId"`,
    [orderId, failure],
  );
  const [ended] = rows;
  if (!ended) return null;
  await tx.query(leaveOrder, [ended.workspaceId, orderId]);
  return ended.workspaceId;
}
