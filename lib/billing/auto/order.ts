import type { Pool } from 'pg';
import { pauseAutoTopUp, tellPayers } from '#lib/billing/auto/pause';
import type { Payments } from '#lib/billing/payments/client';
import { feeOf } from '#lib/billing/payments/money';
import { type PaymentStore, storeIn } from '#lib/billing/payments/store';
import { newRowId } from '#lib/control/row-id';
import { transact } from '#lib/data/transaction/transaction';

export const limits = { lockMs: 5_000, statementMs: 10_000 };

interface Due {
  readonly workspaceId: string;
  readonly cents: number;
  readonly stopped: boolean;
  /** With this one the month has more than its cap. */
  readonly overCap: boolean;
  readonly monthEndsAt: Date;
  readonly customer: string | null;
  readonly paymentMethod: string | null;
}

/** Nobody else has the row until the transaction ends: whoever comes meanwhile takes another one. */
const takeDue = `
  SELECT a.workspace_id FROM auto_top_up a
  WHERE a.due_at IS NOT NULL AND a.order_id IS NULL ORDER BY a.due_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

const readDue = `
  SELECT a.workspace_id AS "workspaceId", a.cents, NOT a.enabled OR w.demo OR w.suspended_at IS NOT NULL AS stopped,
    a.cents + (SELECT coalesce(sum(t.cents), 0) FROM top_up t WHERE t.workspace_id = a.workspace_id AND t.auto
      AND t.status IN ('open', 'paid', 'refunded') AND t.created_at >= month.begins) > a.month_cents AS "overCap",
    month.ends AS "monthEndsAt", p.customer, p.payment_method AS "paymentMethod"
  FROM auto_top_up a JOIN workspace w ON w.id = a.workspace_id
    CROSS JOIN LATERAL (SELECT date_trunc('month', now() AT TIME ZONE w.time_zone) AT TIME ZONE w.time_zone AS begins,
      (date_trunc('month', now() AT TIME ZONE w.time_zone) + interval '1 month') AT TIME ZONE w.time_zone AS ends) AS month
    LEFT JOIN payer p ON p.workspace_id = a.workspace_id AND p.livemode = $2::boolean
  WHERE a.workspace_id = $1::uuid`;

/**
 * Makes the order of one workspace whose usage has crossed its threshold; what may be charged by it follows later, so
 * that a process that dies in between leaves an order and nothing else.
 * @returns whether there was one to look at.
 */
export async function orderNext(pool: Pool, payments: Payments): Promise<boolean> {
  return transact(pool, limits, async (client) => {
    const tx = storeIn(client);
    const [taken] = await tx.rows<{ workspace_id: string }>(takeDue, []);
    if (!taken) return false;
    const [due] = await tx.rows<Due>(readDue, [taken.workspace_id, payments.livemode]);
    if (due) await orderFor(tx, due, payments);
    return true;
  });
}

async function orderFor(tx: PaymentStore, due: Due, { livemode, feeBasisPoints }: Payments): Promise<void> {
  const { workspaceId, cents, customer, paymentMethod } = due;
  if (due.stopped) {
    await tx.query('UPDATE auto_top_up SET due_at = NULL, armed = true WHERE workspace_id = $1::uuid', [
      workspaceId,
    ]);
  } else if (due.overCap) {
    await tx.query(
      'UPDATE auto_top_up SET due_at = NULL, armed = true, waits_until = $2 WHERE workspace_id = $1::uuid',
      [workspaceId, due.monthEndsAt],
    );
    await tellPayers(tx, workspaceId, 'month_cap', null);
  } else if (customer === null || paymentMethod === null) {
    await pauseAutoTopUp(tx, workspaceId, 'no_card', null);
  } else {
    // One that is open already, whoever made it, is the order of this crossing too.
    await tx.query(
      `INSERT INTO top_up (id, workspace_id, cents, fee_cents, livemode, auto, customer, payment_method, next_try_at)
       VALUES ($1::uuid, $2::uuid, $3, $4, $5, true, $6, $7, now()) ON CONFLICT DO NOTHING`,
      [newRowId(), workspaceId, cents, feeOf(cents, feeBasisPoints), livemode, customer, paymentMethod],
    );
    await tx.query(
      `UPDATE auto_top_up SET waits_until = NULL,
         order_id = (SELECT id FROM top_up WHERE workspace_id = $1::uuid AND auto AND status = 'open')
       WHERE workspace_id = $1::uuid`,
      [workspaceId],
    );
  }
}
