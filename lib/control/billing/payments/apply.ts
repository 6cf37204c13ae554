import type { PoolClient } from 'pg';
import { concludeFailed, concludePaid } from '#lib/control/billing/auto/conclude';
import { pauseAutoTopUp } from '#lib/control/billing/auto/pause';
import { type Decision, decide, type Order } from '#lib/control/billing/payments/decide';
import type { Declined, Fact } from '#lib/control/billing/payments/fact';
import { postLine } from '#lib/gateway/ledger/post-line';
import type { Change } from '#lib/platform/data/change';

/** How a fact was taken. `later`: what it needs is not there yet, so that it must come again. */
export type Applied =
  | { readonly outcome: 'applied'; readonly topUpId: string; readonly changes: readonly Change[] }
  | {
      readonly outcome: 'ignored' | 'quarantined' | 'later';
      readonly why: string;
      readonly topUpId: string | null;
    };

/** Applies a fact to its order and the ledger, under the order's lock (contract: money/payment-events). */
export async function applyFact(tx: PoolClient, fact: Fact, livemode: boolean): Promise<Applied> {
  if (fact.kind === 'card' || fact.kind === 'refunds')
    return { outcome: 'ignored', why: 'it moves no money', topUpId: null };
  if (fact.kind === 'declined') return applyDeclined(tx, fact);
  const order = await orderOf(tx, fact);
  const decision = decide(order, fact, livemode);
  if (fact.kind === 'paid' && order && fact.receiptUrl !== null && decision.outcome !== 'quarantined') {
    const note = 'UPDATE top_up SET receipt_url = coalesce(receipt_url, $2) WHERE id = $1::uuid';
    await tx.query(note, [order.id, fact.receiptUrl]);
  }
  if (decision.outcome !== 'applied' || order === null) {
    const { outcome, why } = decision.outcome === 'applied' ? missing : decision;
    return { outcome, why, topUpId: order?.id ?? null };
  }
  await changeOrder(tx, order, decision);
  const changes = await postLines(tx, order, decision.lines);
  if (fact.kind === 'paid') await concludePaid(tx, order.workspaceId, order.id);
  // A customer who disputes a payment is not charged automatically again.
  if (fact.kind === 'disputed' && (fact.opened || changes.length > 0)) {
    await pauseAutoTopUp(tx, order.workspaceId, 'dispute', null);
  }
  return { outcome: 'applied', topUpId: order.id, changes };
}

const missing = { outcome: 'ignored', why: 'no such order' } as const;

/** A declined card ends an automatic order; on Stripe's page people try another one, and the order says why. */
async function applyDeclined(tx: PoolClient, { orderId, code }: Declined): Promise<Applied> {
  const order = orderId === null ? null : await lockOrder(tx, 'id::text', orderId);
  const reason = code === 'authentication_required' ? code : 'declined';
  if (order)
    await tx.query(`UPDATE top_up SET failure = $2 WHERE id = $1::uuid AND status = 'open' AND NOT auto`, [
      order.id,
      code ?? 'declined',
    ]);
  if (!order || !(await concludeFailed(tx, order.id, reason, code)))
    return { outcome: 'ignored', why: 'it ends no order', topUpId: order?.id ?? null };
  return { outcome: 'applied', topUpId: order.id, changes: [] };
}

async function changeOrder(
  tx: PoolClient,
  { id }: Order,
  {
    order: { status, paymentIntent, refundedCents, failedCents, customer },
  }: Extract<Decision, { outcome: 'applied' }>,
): Promise<void> {
  await tx.query(
    `UPDATE top_up SET status = coalesce($2, status), payment_intent = coalesce($3, payment_intent),
       refunded_cents = coalesce($4::int, refunded_cents), customer = coalesce($5, customer),
       failed_refund_cents = coalesce($6::int, failed_refund_cents),
       paid_at = CASE WHEN $2 = 'paid' THEN coalesce(paid_at, now()) ELSE paid_at END,
       next_try_at = CASE WHEN $2 IS NULL THEN next_try_at END
     WHERE id = $1::uuid`,
    [id, status ?? null, paymentIntent ?? null, refundedCents ?? null, customer ?? null, failedCents ?? null],
  );
}

async function postLines(
  tx: PoolClient,
  { workspaceId, livemode }: Order,
  lines: Extract<Decision, { outcome: 'applied' }>['lines'],
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const line of lines) {
    if (line.amountNano !== 0n)
      changes.push(...((await postLine(tx, { workspaceId, ...line, simulated: !livemode })) ?? []));
  }
  return changes;
}

function orderOf(
  tx: PoolClient,
  fact: Exclude<Fact, { kind: 'card' | 'refunds' | 'declined' }>,
): Promise<Order | null> {
  const byOrder = fact.kind === 'paid' || fact.kind === 'ended';
  const value = byOrder ? fact.orderId : fact.paymentIntent;
  return value === null
    ? Promise.resolve(null)
    : lockOrder(tx, byOrder ? 'id::text' : 'payment_intent', value);
}

async function lockOrder(
  tx: PoolClient,
  column: 'id::text' | 'payment_intent',
  value: string,
): Promise<Order | null> {
  const { rows } = await tx.query<Order>(
    `SELECT id, workspace_id AS "workspaceId", cents, fee_cents AS "feeCents", livemode, status,
       payment_intent AS "paymentIntent", refunded_cents AS "refundedCents",
       failed_refund_cents AS "failedCents", customer
     FROM top_up WHERE ${column} = $1 FOR UPDATE`,
    [value],
  );
  return rows[0] ?? null;
}
