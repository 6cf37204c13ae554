import type { Pool } from 'pg';
import type Stripe from 'stripe';
import type { Payments } from '#lib/billing/payments/client';
import { eventTypes, factOf } from '#lib/billing/payments/fact';
import { handleEvent } from '#lib/billing/payments/handle';
import { nanoOf, shareOf } from '#lib/billing/payments/money';

export interface Reconciled {
  /** Events looked at. */
  readonly checked: number;
  /** How many of them moved money now. */
  readonly credited: number;
  /** What the ledger still differs by from what Stripe says, all payments together, nano-dollars. */
  readonly driftNano: bigint;
}

/** Stripe's own limit for events: older ones are gone. */
const KEPT_DAYS = 30;
const OVERLAP_DAYS = 7;
const DAY_SECONDS = 86_400;

/**
 * Takes what Stripe has and the ledger lacks: events of the time since the last one, with a week of overlap, in the
 * order in which they happened (contract: money/reconcile). What was handled before moves nothing.
 * @throws Error of Stripe's client or the database; what was taken until then stays.
 */
export async function reconcile(pool: Pool, payments: Payments, nowMs: number): Promise<Reconciled> {
  const { stripe } = payments;
  const since = await startOf(pool, nowMs);
  const events: Stripe.Event[] = [];
  const listed = stripe.events.list({ created: { gte: since }, types: [...eventTypes], limit: 100 });
  for await (const event of listed) events.push(event);
  // Stripe lists the newest first, and its moments are whole seconds.
  const inOrder = events.reverse().sort((one, other) => one.created - other.created);
  let credited = 0;
  let left = inOrder;
  // What an event needs may come behind it: a second round takes what the first had to leave.
  for (let round = 0; round < 2; round++) {
    const again: Stripe.Event[] = [];
    for (const event of left) {
      let handled = await handleEvent(pool, stripe, event);
      // Its order is not in this database: one that was restored from an older copy.
      if (handled.outcome === 'later' && (await restoreOrder(pool, event))) {
        handled = await handleEvent(pool, stripe, event);
      }
      if (handled.outcome === 'later') again.push(event);
      if (handled.moved) credited += 1;
    }
    left = again;
  }
  return { checked: events.length, credited, driftNano: await driftOf(pool, stripe, since) };
}

async function startOf(pool: Pool, nowMs: number): Promise<number> {
  const oldest = Math.floor(nowMs / 1000) - KEPT_DAYS * DAY_SECONDS;
  const { rows } = await pool.query<{ last: string | null }>(
    'SELECT extract(epoch FROM max(created_at))::bigint::text AS last FROM stripe_event',
  );
  const last = rows[0]?.last;
  return last ? Math.max(oldest, Number(last) - OVERLAP_DAYS * DAY_SECONDS) : oldest;
}

/** @returns whether the order is there now. */
async function restoreOrder(pool: Pool, event: Stripe.Event): Promise<boolean> {
  const fact = factOf(event);
  if (fact?.kind !== 'paid' || fact.workspaceId === null) return false;
  const { metadata } = event.data.object as { metadata?: Stripe.Metadata | null };
  const cents = Number(metadata?.cents);
  if (!Number.isSafeInteger(cents) || cents <= 0 || cents > fact.paidCents) return false;
  const { rowCount } = await pool.query(
    `INSERT INTO top_up (id, workspace_id, cents, fee_cents, livemode)
     SELECT $1::uuid, id, $3, $4, $5 FROM workspace WHERE id::text = $2 ON CONFLICT DO NOTHING`,
    [fact.orderId, fact.workspaceId, cents, fact.paidCents - cents, event.livemode],
  );
  return rowCount === 1;
}

/** Payments of this gateway as Stripe has them, against their lines in the ledger. */
async function driftOf(pool: Pool, stripe: Stripe, since: number): Promise<bigint> {
  let drift = 0n;
  const intents = stripe.paymentIntents.list({
    created: { gte: since },
    expand: ['data.latest_charge'],
    limit: 100,
  });
  for await (const intent of intents) {
    const cents = Number(intent.metadata.cents);
    if (!intent.metadata.order || !(cents > 0)) continue;
    const charge = typeof intent.latest_charge === 'object' ? intent.latest_charge : null;
    const returned = charge?.amount_refunded ?? 0;
    const paid = intent.status === 'succeeded';
    const due = paid ? nanoOf(cents) - shareOf(cents, returned, intent.amount_received) : 0n;
    const { rows } = await pool.query<{ posted: string }>(
      `SELECT coalesce(sum(amount_nano), 0)::text AS posted FROM ledger_line
       WHERE (kind = 'top_up' AND ref = $1) OR (kind = 'refund' AND ref LIKE $1 || ':%')`,
      [intent.id],
    );
    const differs = due - BigInt(rows[0]?.posted ?? '0');
    drift += differs < 0n ? -differs : differs;
    if (charge?.receipt_url) {
      await pool.query('UPDATE top_up SET receipt_url = $2 WHERE payment_intent = $1', [
        intent.id,
        charge.receipt_url,
      ]);
    }
  }
  return drift;
}
