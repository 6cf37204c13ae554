import type { PoolClient } from 'pg';
import { mailMembers } from '#lib/control/outbox/queue-mail';

/** Why automatic top-ups are paused until someone resumes them. */
export const pauseReasons = [
  'declined',
  'authentication_required',
  'dispute',
  'no_card',
  'unreachable',
  'mismatch',
] as const;
export type PauseReason = (typeof pauseReasons)[number];

const WEEK_SECONDS = 7 * 86_400;

const pause = `
  UPDATE auto_top_up a SET paused_at = now(), paused_reason = $2, paused_detail = $3
  FROM workspace w
  WHERE a.workspace_id = $1::uuid AND w.id = a.workspace_id AND a.enabled AND a.paused_at IS NULL
  RETURNING w.id`;

/**
 * Pauses the automatic top-ups of a workspace and queues a mail about it, once, in the transaction that causes it
 * (contract: money/auto-top-up). Does nothing if they are off or already paused.
 * @param detail Stripe's code for the reason, such as "insufficient_funds".
 */
export async function pauseAutoTopUp(
  tx: PoolClient,
  workspaceId: string,
  reason: PauseReason,
  detail: string | null,
): Promise<void> {
  const [paused] = (await tx.query<{ id: string }>(pause, [workspaceId, reason, detail])).rows;
  if (paused) await tellPayers(tx, workspaceId, reason, detail);
}

/** Mails the members who may pay why an automatic top-up was not made. */
export async function tellPayers(
  tx: PoolClient,
  workspaceId: string,
  reason: PauseReason | 'month_cap',
  detail: string | null,
): Promise<void> {
  await mailMembers(tx, workspaceId, ['owner', 'admin', 'billing'], {
    kind: 'auto-top-up-stopped',
    facts: { reason, detail },
    lifeSeconds: WEEK_SECONDS,
  });
}
