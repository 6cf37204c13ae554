import type { Pool, PoolClient } from 'pg';
import { pauseAutoTopUp, tellPayers } from '#lib/control/billing/auto/pause';
import { feeOf } from '#lib/control/billing/payments/cents';
import type { Payments } from '#lib/control/billing/payments/client';
import { newRowId } from '#lib/platform/data/row-id';
import { transact } from '#lib/platform/data/transaction/transaction';

export const limits = { lockMs: 5_000, statementMs: 10_000 };

interface Due {
  readonly workspaceId: string;
  readonly cents: number;
  /** With this one the month has more than its cap. */
  readonly overCap: boolean;
  readonly monthEndsAt: Date;
  readonly customer: string | null;
  readonly paymentMethod: string | null;
}

/**
 * Settings `a` of workspace `w` that want a top-up now (contract: money/auto-top-up). $1: payments are of real money,
 * which simulated money never replaces.
 */
const isDue = `
  a.enabled AND a.paused_at IS NULL AND a.order_id IS NULL AND (a.waits_until IS NULL OR a.waits_until <= now())
    AND NOT w.demo AND w.suspended_at IS NULL
    AND w.balance_nano - CASE WHEN $1::boolean THEN w.simulated_nano ELSE 0 END <= a.threshold_nano`;

/** Locks the settings until the transaction ends: another process then takes those of another workspace. */
const takeDue = `
  SELECT a.workspace_id FROM auto_top_up a JOIN workspace w ON w.id = a.workspace_id
  WHERE ${isDue} LIMIT 1 FOR UPDATE OF a SKIP LOCKED`;

/** Reads again, because the statement that takes the lock may have read the balance before an order was credited. */
const readDue = `
  SELECT a.workspace_id AS "workspaceId", a.cents,
    a.cents + (SELECT coalesce(sum(t.cents), 0) FROM top_up t WHERE t.workspace_id = a.workspace_id AND t.auto
      AND t.status IN ('open', 'paid', 'refunded') AND t.created_at >= month.begins) > a.month_cents AS "overCap",
    month.ends AS "monthEndsAt", p.customer, p.payment_method AS "paymentMethod"
  FROM auto_top_up a JOIN workspace w ON w.id = a.workspace_id
    CROSS JOIN LATERAL (SELECT date_trunc('month', now() AT TIME ZONE w.time_zone) AT TIME ZONE w.time_zone AS begins,
      (date_trunc('month', now() AT TIME ZONE w.time_zone) + interval '1 month') AT TIME ZONE w.time_zone AS ends) AS month
    LEFT JOIN payer p ON p.workspace_id = a.workspace_id AND p.livemode = $1::boolean
  WHERE a.workspace_id = $2::uuid AND ${isDue}`;

/**
 * Makes the order of one workspace whose balance is at or below its threshold. It is charged later, so that a process
 * that dies in between leaves only an order.
 * @returns whether there was such a workspace.
 */
export async function orderNext(pool: Pool, payments: Payments): Promise<boolean> {
  return transact(pool, limits, async (tx) => {
    const [taken] = (await tx.query<{ workspace_id: string }>(takeDue, [payments.livemode])).rows;
    if (!taken) return false;
    const [due] = (await tx.query<Due>(readDue, [payments.livemode, taken.workspace_id])).rows;
    if (due) await orderFor(tx, due, payments);
    return true;
  });
}

async function orderFor(tx: PoolClient, due: Due, { livemode, feeBasisPoints }: Payments): Promise<void> {
  const { workspaceId, cents, customer, paymentMethod } = due;
  if (due.overCap) {
    await tx.query('UPDATE auto_top_up SET waits_until = $2 WHERE workspace_id = $1::uuid', [
      workspaceId,
      due.monthEndsAt,
    ]);
    await tellPayers(tx, workspaceId, 'month_cap', null);
  } else if (customer === null || paymentMethod === null) {
    await pauseAutoTopUp(tx, workspaceId, 'no_card', null);
  } else {
    // An order that is still open, from before the top-ups were switched off and on again, is used for this shortfall.
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
