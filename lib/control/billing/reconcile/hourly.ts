import type { Pool } from 'pg';
import type { Payments } from '#lib/control/billing/payments/client';
import { type Reconciled, reconcile } from '#lib/control/billing/reconcile/reconcile';
import { formatUsd } from '#lib/core/money';

interface HourlyParts {
  readonly pool: Pool;
  readonly payments: Payments;
  changed(): Promise<void> | void;
  /** Called with what the operator must look at. */
  report(error: unknown): void;
}

/** How long a process may take before it counts as dead. */
const TAKEN_MINUTES = 30;

const take = `
  UPDATE fleet_duty SET taken_until = now() + interval '${TAKEN_MINUTES} minutes'
  WHERE name = 'reconcile' AND (taken_until IS NULL OR taken_until <= now())
    AND (done_at IS NULL OR done_at <= now() - interval '1 hour')`;

/**
 * Reconciles with Stripe if the last time is an hour ago and no other process is doing it.
 * @returns null if it was not this process's turn.
 * @throws Error of Stripe's client or the database; another process tries in half an hour, or this one.
 */
export async function reconcileInTurn(parts: HourlyParts): Promise<Reconciled | null> {
  const { pool, payments, changed, report } = parts;
  const { rowCount } = await pool.query(take);
  if (rowCount !== 1) return null;
  const done = await reconcile(pool, payments, Date.now(), false);
  if (done.credited > 0) await changed();
  await keepResult(pool, done);
  if (done.driftNano !== 0n) {
    const payment = done.differences.map(({ paymentIntent }) => paymentIntent).slice(0, 10);
    report(
      new Error(`the ledger differs from Stripe by $${formatUsd(done.driftNano)}: ${payment.join(', ')}`),
    );
  }
  return done;
}

/** Keeps how it went, for operators. */
export async function keepResult(
  pool: Pool,
  { checked, credited, driftNano, lost }: Reconciled,
): Promise<void> {
  const result = { checked, credited, drift: formatUsd(driftNano), lost: lost.length };
  await pool.query(
    `UPDATE fleet_duty SET taken_until = NULL, done_at = now(), result = $1::jsonb WHERE name = 'reconcile'`,
    [JSON.stringify(result)],
  );
}
