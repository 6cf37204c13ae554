import type { Pool } from 'pg';
import Stripe from 'stripe';
import { concludeFailed, concludeStopped } from '#lib/control/billing/auto/conclude';
import { limits } from '#lib/control/billing/auto/order';
import type { PauseReason } from '#lib/control/billing/auto/pause';
import type { Payments } from '#lib/control/billing/payments/client';
import { noteDetails } from '#lib/control/billing/payments/details';
import { paidByIntent } from '#lib/control/billing/payments/fact';
import { takeFacts } from '#lib/control/billing/payments/handle';
import { transact } from '#lib/platform/data/transaction/transaction';

/** An automatic order that is due. */
interface AutoOrder {
  readonly id: string;
  readonly workspaceId: string;
  readonly cents: number;
  readonly feeCents: number;
  readonly customer: string;
  readonly paymentMethod: string;
  readonly createdSeconds: number;
  /** Stripe may have forgotten the order's idempotency key, which it keeps for a day. */
  readonly old: boolean;
  /** Since it was ordered, automatic top-ups were switched off or paused, or the workspace suspended or deleted. */
  readonly stopped: boolean;
}

/** How long a process may keep an order before it counts as dead; longer than all tries of Stripe's client. */
const TAKEN_SECONDS = 120;
const LONGEST_PAUSE_SECONDS = 3_600;

const takeOrder = `
  UPDATE top_up SET tries = tries + 1,
    next_try_at = now() + make_interval(secs => least(${LONGEST_PAUSE_SECONDS}, ${TAKEN_SECONDS} * 2 ^ least(tries, 8)))
  WHERE id = (SELECT id FROM top_up WHERE auto AND status = 'open' AND livemode = $1::boolean AND next_try_at <= now()
    ORDER BY next_try_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id, workspace_id AS "workspaceId", cents, fee_cents AS "feeCents", customer,
    payment_method AS "paymentMethod", extract(epoch FROM created_at)::int AS "createdSeconds",
    created_at < now() - interval '20 hours' AS old,
    NOT EXISTS (SELECT FROM auto_top_up a JOIN workspace w ON w.id = a.workspace_id
      WHERE a.workspace_id = top_up.workspace_id AND a.enabled AND a.paused_at IS NULL AND w.suspended_at IS NULL) AS stopped`;

/** How the payment of an order ended; null: not known yet, so that it is checked again later. */
type Ending =
  | Stripe.PaymentIntent
  | { readonly reason: PauseReason; readonly detail: string | null }
  | 'never made'
  | null;

/**
 * Charges the next automatic order that is due, however often it was tried before (contract: money/auto-top-up): Stripe
 * makes one payment for the order's idempotency key, and answers a repetition with the state of that payment.
 * @param changed called when money was credited, before its receipt is requested.
 * @returns whether there was one.
 */
export async function chargeNext(
  pool: Pool,
  payments: Payments,
  changed: () => Promise<void> | void,
): Promise<boolean> {
  const { rows } = await pool.query<AutoOrder>(takeOrder, [payments.livemode]);
  const [order] = rows;
  if (!order) return false;
  const known = order.old || order.stopped;
  const ending = known ? await findPayment(payments, order) : await makePayment(payments, order);
  if (ending === null) return true;
  if (ending === 'never made') {
    if (order.stopped) await transact(pool, limits, (client) => concludeStopped(client, order.id));
    else await fail(pool, order, 'unreachable', null);
    return true;
  }
  if ('reason' in ending) {
    await fail(pool, order, ending.reason, ending.detail);
    return true;
  }
  const paid = paidByIntent(ending);
  if (paid === null) {
    if (ending.status !== 'processing') await fail(pool, order, ...whyNot(ending));
    return true;
  }
  const { outcome, why } = await takeFacts(pool, [paid], payments.livemode);
  if (outcome === 'quarantined') await fail(pool, order, 'mismatch', why);
  await changed();
  await noteDetails(pool, payments.stripe, ending.id);
  return true;
}

async function makePayment({ stripe }: Payments, order: AutoOrder): Promise<Ending> {
  const { id, workspaceId, cents, feeCents, customer, paymentMethod } = order;
  try {
    return await stripe.paymentIntents.create(
      {
        amount: cents + feeCents,
        currency: 'usd',
        customer,
        payment_method: paymentMethod,
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
        off_session: true,
        confirm: true,
        description: 'Model Gateway credit, automatic top-up',
        metadata: { order: id, workspace: workspaceId, cents: String(cents), auto: 'true' },
      },
      { idempotencyKey: `auto-top-up:${id}` },
    );
  } catch (error) {
    return endingOf(error);
  }
}

/** The payment of an order that must not be tried again; without a payment it is given up. */
async function findPayment({ stripe }: Payments, order: AutoOrder): Promise<Ending> {
  const created = { gte: order.createdSeconds - 3_600 };
  for await (const intent of stripe.paymentIntents.list({ customer: order.customer, created, limit: 100 })) {
    if (intent.metadata.order === order.id) return intent;
  }
  return 'never made';
}

/** What an error says about a payment; null: nothing, as when Stripe could not be reached. */
function endingOf(error: unknown): Ending {
  if (!(error instanceof Stripe.errors.StripeError)) return null;
  const { code = null, decline_code: declineCode } = error;
  if (error instanceof Stripe.errors.StripeCardError) {
    const asks = code === 'authentication_required';
    return { reason: asks ? 'authentication_required' : 'declined', detail: declineCode ?? code };
  }
  const gone = code === 'resource_missing' || code === 'payment_method_unexpected_state';
  return error instanceof Stripe.errors.StripeInvalidRequestError && gone
    ? { reason: 'no_card', detail: code }
    : null;
}

function whyNot({ status, last_payment_error: error }: Stripe.PaymentIntent): [PauseReason, string | null] {
  const code = error?.code ?? null;
  if (status === 'requires_action' || code === 'authentication_required')
    return ['authentication_required', code];
  return ['declined', error?.decline_code ?? code];
}

function fail(pool: Pool, order: AutoOrder, reason: PauseReason, detail: string | null): Promise<boolean> {
  return transact(pool, limits, (client) => concludeFailed(client, order.id, reason, detail));
}
