import type { Pool } from 'pg';
import type Stripe from 'stripe';
import type { Payments } from '#lib/control/billing/payments/client';
import { eventTypes, paidByIntent } from '#lib/control/billing/payments/fact';
import { handleEvent, takeFacts } from '#lib/control/billing/payments/handle';
import { type Difference, findDifferences } from '#lib/control/billing/reconcile/drift';
import { compareUsage, type LostUsage, listLostUsage } from '#lib/control/billing/reconcile/lost-usage';
import { noteReceipts } from '#lib/control/billing/reconcile/receipts';
import { factsOf, listTruths } from '#lib/control/billing/reconcile/truth';

export interface Reconciled {
  /** Events and payments looked at. */
  readonly checked: number;
  /** How many of them moved money now. */
  readonly credited: number;
  /** By how much the ledger still differs from Stripe, all payments together, nano-dollars. */
  readonly driftNano: bigint;
  /** Payment by payment. */
  readonly differences: readonly Difference[];
  /** Usage that this database has lost, as noticed in the last 30 days. */
  readonly lost: readonly LostUsage[];
}

/** Stripe's own limit for events: older ones are gone. */
const KEPT_DAYS = 30;
const OVERLAP_DAYS = 7;
const DAY_SECONDS = 86_400;

/**
 * Posts what Stripe has and the ledger lacks: events, payments, refunds and disputes since the last event, with a week
 * of overlap (contract: money/reconcile). What was posted before moves nothing.
 * @param all compares the usage of every paying workspace with what is stored at Stripe, as after restoring a copy.
 * @throws Error of Stripe's client or the database; what was taken until then stays.
 */
export async function reconcile(
  pool: Pool,
  payments: Payments,
  nowMs: number,
  all = true,
): Promise<Reconciled> {
  const { stripe } = payments;
  const oldest = Math.floor(nowMs / 1000) - KEPT_DAYS * DAY_SECONDS;
  const since = await startOf(pool, oldest);
  const events: Stripe.Event[] = [];
  const created = { gte: Math.max(since, oldest) };
  for await (const event of stripe.events.list({ created, types: [...eventTypes], limit: 100 })) {
    events.push(event);
  }
  // Stripe lists the newest first, and its moments are whole seconds.
  const inOrder = events.reverse().sort((one, other) => one.created - other.created);
  const first = await takeEvents(pool, stripe, inOrder);
  const truths = await listTruths(stripe, since);
  let credited = first.credited;
  for (const truth of truths) {
    await restoreOrder(pool, truth.intent);
    const { moved } = await takeFacts(pool, factsOf(truth), truth.intent.livemode);
    if (moved) credited += 1;
  }
  // What these events depended on may exist now.
  credited += (await takeEvents(pool, stripe, first.left)).credited;
  await noteReceipts(pool, stripe, truths);
  await compareUsage(pool, payments, nowMs, all);
  const differences = await findDifferences(pool, truths);
  const driftNano = differences.reduce((sum, one) => sum + abs(one.dueNano - one.postedNano), 0n);
  const checked = events.length + truths.length;
  return { checked, credited, driftNano, differences, lost: await listLostUsage(pool) };
}

async function startOf(pool: Pool, oldest: number): Promise<number> {
  const { rows } = await pool.query<{ last: string | null }>(
    'SELECT extract(epoch FROM max(created_at))::bigint::text AS last FROM stripe_event',
  );
  const last = rows[0]?.last;
  return last ? Number(last) - OVERLAP_DAYS * DAY_SECONDS : oldest;
}

async function takeEvents(pool: Pool, stripe: Stripe, events: readonly Stripe.Event[]) {
  const known = await handledOf(pool, events);
  const left: Stripe.Event[] = [];
  let credited = 0;
  for (const event of events) {
    if (known.has(event.id)) continue;
    const { outcome, moved } = await handleEvent(pool, stripe, event);
    if (outcome === 'later') left.push(event);
    if (moved) credited += 1;
  }
  return { credited, left };
}

async function handledOf(pool: Pool, events: readonly Stripe.Event[]): Promise<ReadonlySet<string>> {
  const ids = events.map(({ id }) => id);
  const { rows } = await pool.query<{ id: string }>(
    'SELECT id FROM stripe_event WHERE id = ANY ($1::text[])',
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}

function abs(nano: bigint): bigint {
  return nano < 0n ? -nano : nano;
}

/**
 * Recreates an order for which Stripe took money and that this database has lost, with its customer, because it was
 * restored from an older copy. It is never charged, because its payment exists.
 */
async function restoreOrder(pool: Pool, intent: Stripe.PaymentIntent): Promise<void> {
  const fact = paidByIntent(intent);
  const cents = Number(intent.metadata.cents);
  if (fact === null || fact.workspaceId === null) return;
  if (!Number.isSafeInteger(cents) || cents <= 0 || cents > fact.paidCents) return;
  const { rowCount } = await pool.query(
    `INSERT INTO top_up (id, workspace_id, created_at, cents, fee_cents, livemode, auto, status, customer)
     SELECT $1::uuid, id, to_timestamp($3), $4, $5, $6, $7, 'expired', $8 FROM workspace WHERE id::text = $2
     ON CONFLICT DO NOTHING`,
    [
      fact.orderId,
      fact.workspaceId,
      intent.created,
      cents,
      fact.paidCents - cents,
      intent.livemode,
      intent.metadata.auto === 'true',
      fact.customer,
    ],
  );
  if (rowCount !== 1 || fact.customer === null) return;
  await pool.query(
    `INSERT INTO payer (workspace_id, livemode, customer) VALUES ($1::uuid, $2, $3) ON CONFLICT DO NOTHING`,
    [fact.workspaceId, intent.livemode, fact.customer],
  );
}
