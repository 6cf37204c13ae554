import type { PaymentStore } from '#lib/control/billing/payments/payment-rows';
import { queueMail } from '#lib/control/outbox/queue-mail';

/** Why automatic top-ups stand still until somebody resumes them. */
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

/** Those who may do something about it. */
const payersOf = `
  SELECT u.email, w.slug, w.name FROM member m JOIN "user" u ON u.id = m.user_id JOIN workspace w ON w.id = m.workspace_id
  WHERE m.workspace_id = $1::uuid AND m.role IN ('owner', 'admin', 'billing') ORDER BY u.email`;

/**
 * Pauses the automatic top-ups of a workspace and has it told by mail, once, in the transaction of what it follows from
 * (contract: money/auto-top-up). Where they are off or paused already nothing happens.
 * @param detail Stripe's own word for it, such as "insufficient_funds".
 */
export async function pauseAutoTopUp(
  tx: PaymentStore,
  workspaceId: string,
  reason: PauseReason,
  detail: string | null,
): Promise<void> {
  const [paused] = await tx.rows<{ id: string }>(pause, [workspaceId, reason, detail]);
  if (paused) await tellPayers(tx, workspaceId, reason, detail);
}

/** Has those who may pay told by mail why an automatic top-up was not made. */
export async function tellPayers(
  tx: PaymentStore,
  workspaceId: string,
  reason: PauseReason | 'month_cap',
  detail: string | null,
): Promise<void> {
  const payers = await tx.rows<{ email: string; slug: string; name: string }>(payersOf, [workspaceId]);
  for (const { email, slug, name } of payers) {
    await queueMail(tx, {
      kind: 'auto-top-up-stopped',
      recipient: email,
      facts: { slug, name, reason, detail },
      lifeSeconds: WEEK_SECONDS,
    });
  }
}
