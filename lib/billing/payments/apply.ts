import { concludeFailed, concludePaid } from '#lib/billing/auto/conclude';
import { pauseAutoTopUp } from '#lib/billing/auto/pause';
import { type LineKind, postLine } from '#lib/billing/ledger';
import type { Declined, Disputed, Ended, Fact, Paid, Returned } from '#lib/billing/payments/fact';
import { nanoOf, shareOf } from '#lib/billing/payments/money';
import type { PaymentStore } from '#lib/billing/payments/store';
import type { Change } from '#lib/data/change';

/** How a fact was taken. `later`: what it needs is not there yet, so that it must come again. */
export type Applied =
  | { readonly outcome: 'applied'; readonly topUpId: string; readonly changes: readonly Change[] }
  | {
      readonly outcome: 'ignored' | 'quarantined' | 'later';
      readonly why: string;
      readonly topUpId: string | null;
    };

/** An order under its row lock. */
interface Order {
  readonly id: string;
  readonly workspaceId: string;
  readonly cents: number;
  readonly feeCents: number;
  readonly livemode: boolean;
  readonly status: 'open' | 'paid' | 'expired' | 'failed' | 'refunded';
  readonly paymentIntent: string | null;
  readonly refundedCents: number;
  readonly customer: string | null;
}

/**
 * Applies a fact to its order and the ledger (contract: money/payment-events). The same fact again, or facts in
 * another order, lead to the same ledger: credits are posted once a payment, refunds up to an absolute amount,
 * disputes once each way.
 */
export async function applyFact(tx: PaymentStore, fact: Fact, livemode: boolean): Promise<Applied> {
  switch (fact.kind) {
    case 'paid':
      return applyPaid(tx, fact, livemode);
    case 'ended':
      return applyEnded(tx, fact);
    case 'declined':
      return applyDeclined(tx, fact);
    case 'card':
      return { outcome: 'ignored', why: 'it moves no money', topUpId: null };
    case 'returned':
      return applyToPayment(tx, fact, livemode, (order) => returned(tx, order, fact));
    case 'disputed':
      return applyToPayment(tx, fact, livemode, (order) => disputed(tx, order, fact));
  }
}

async function applyPaid(tx: PaymentStore, fact: Paid, livemode: boolean): Promise<Applied> {
  const order = await lockOrder(tx, 'id::text', fact.orderId);
  if (!order) return later(`there is no order ${fact.orderId}`);
  const wrong = disagreement(order, fact, livemode);
  if (wrong) return { outcome: 'quarantined', why: wrong, topUpId: order.id };
  if (order.paymentIntent === fact.paymentIntent) {
    await tx.query('UPDATE top_up SET receipt_url = coalesce(receipt_url, $2) WHERE id = $1::uuid', [
      order.id,
      fact.receiptUrl,
    ]);
    return { outcome: 'ignored', why: 'credited already', topUpId: order.id };
  }
  await tx.query(
    `UPDATE top_up SET status = 'paid', paid_at = now(), payment_intent = $2, customer = $3, receipt_url = $4,
       next_try_at = NULL
     WHERE id = $1::uuid`,
    [order.id, fact.paymentIntent, fact.customer, fact.receiptUrl],
  );
  const changes = await post(tx, order, 'top_up', fact.paymentIntent, nanoOf(order.cents), null);
  await concludePaid(tx, order.workspaceId, order.id);
  return { outcome: 'applied', topUpId: order.id, changes };
}

/** Why a payment is not that of the order; null: it is. */
function disagreement(order: Order, fact: Paid, livemode: boolean): string | null {
  const due = order.cents + order.feeCents;
  if (order.livemode !== livemode) return 'the payment is of the other mode (test or live)';
  if (fact.currency !== 'usd') return `the payment is in ${fact.currency}, not in usd`;
  if (fact.workspaceId !== order.workspaceId) return 'the payment names another workspace';
  if (order.customer !== null && fact.customer !== order.customer) {
    return `the payment is of the customer ${fact.customer}, the order of ${order.customer}`;
  }
  if (fact.paidCents !== due) return `the payment is of ${fact.paidCents} cents, the order of ${due}`;
  if (order.paymentIntent !== null && order.paymentIntent !== fact.paymentIntent) {
    return `the order was paid by ${order.paymentIntent} already`;
  }
  return null;
}

async function applyEnded(tx: PaymentStore, { orderId, status }: Ended): Promise<Applied> {
  const order = orderId === null ? null : await lockOrder(tx, 'id::text', orderId);
  if (!order) return { outcome: 'ignored', why: 'no such order', topUpId: null };
  // Money that has arrived counts for more than a session that has ended.
  if (order.status !== 'open') return { outcome: 'ignored', why: `it is ${order.status}`, topUpId: order.id };
  await tx.query('UPDATE top_up SET status = $2 WHERE id = $1::uuid', [order.id, status]);
  return { outcome: 'applied', topUpId: order.id, changes: [] };
}

/** A declined card ends an automatic order; on Stripe's page people try another one. */
async function applyDeclined(tx: PaymentStore, { orderId, code }: Declined): Promise<Applied> {
  const order = orderId === null ? null : await lockOrder(tx, 'id::text', orderId);
  const reason = code === 'authentication_required' ? code : 'declined';
  if (!order || !(await concludeFailed(tx, order.id, reason, code)))
    return { outcome: 'ignored', why: 'it ends no order', topUpId: order?.id ?? null };
  return { outcome: 'applied', topUpId: order.id, changes: [] };
}

async function applyToPayment(
  tx: PaymentStore,
  fact: Returned | Disputed,
  livemode: boolean,
  apply: (order: Order) => Promise<readonly Change[]>,
): Promise<Applied> {
  if (fact.paymentIntent === null) return { outcome: 'ignored', why: 'it is of no payment', topUpId: null };
  const order = await lockOrder(tx, 'payment_intent', fact.paymentIntent);
  if (!order) return later(`the payment ${fact.paymentIntent} is not credited`);
  if (order.livemode !== livemode || fact.currency !== 'usd') {
    return { outcome: 'quarantined', why: 'it is of another mode or currency', topUpId: order.id };
  }
  return { outcome: 'applied', topUpId: order.id, changes: await apply(order) };
}

/** Posts what has gone back beyond what was posted before: refunds of one payment add up to an absolute amount. */
async function returned(tx: PaymentStore, order: Order, { returnedCents, paymentIntent }: Returned) {
  if (returnedCents <= order.refundedCents) return [];
  const paid = order.cents + order.feeCents;
  const now = shareOf(order.cents, returnedCents, paid);
  const before = order.refundedCents === 0 ? 0n : shareOf(order.cents, order.refundedCents, paid);
  await tx.query(
    `UPDATE top_up SET refunded_cents = $2::int, status = CASE WHEN $2::int >= $3::int THEN 'refunded' ELSE status END
     WHERE id = $1::uuid`,
    [order.id, returnedCents, paid],
  );
  return post(tx, order, 'refund', `${paymentIntent}:${returnedCents}`, before - now, null);
}

async function disputed(tx: PaymentStore, order: Order, fact: Disputed): Promise<readonly Change[]> {
  const share = shareOf(order.cents, fact.disputedCents, order.cents + order.feeCents);
  const changes: Change[] = [];
  if (fact.withdrawn) {
    changes.push(
      ...(await post(tx, order, 'dispute', fact.disputeId, -share, 'disputed by the card holder')),
    );
  }
  if (fact.reinstated) {
    changes.push(...(await post(tx, order, 'dispute', `${fact.disputeId}:won`, share, 'dispute won')));
  }
  // Whoever disputes one payment is not charged again unasked.
  if (fact.opened || changes.length > 0) await pauseAutoTopUp(tx, order.workspaceId, 'dispute', null);
  return changes;
}

async function post(
  tx: PaymentStore,
  { workspaceId }: Order,
  kind: LineKind,
  ref: string,
  amountNano: bigint,
  reason: string | null,
): Promise<readonly Change[]> {
  if (amountNano === 0n) return [];
  return (await postLine(tx, { workspaceId, kind, ref, amountNano, reason })) ?? [];
}

async function lockOrder(
  tx: PaymentStore,
  column: 'id::text' | 'payment_intent',
  value: string,
): Promise<Order | null> {
  const [order] = await tx.rows<Order>(
    `SELECT id, workspace_id AS "workspaceId", cents, fee_cents AS "feeCents", livemode, status,
       payment_intent AS "paymentIntent", refunded_cents AS "refundedCents", customer
     FROM top_up WHERE ${column} = $1 FOR UPDATE`,
    [value],
  );
  return order ?? null;
}

function later(why: string): Applied {
  return { outcome: 'later', why, topUpId: null };
}
