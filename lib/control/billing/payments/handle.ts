import type { Pool, PoolClient } from 'pg';
import type Stripe from 'stripe';
import { type Applied, applyFact } from '#lib/control/billing/payments/apply';
import { refreshCard } from '#lib/control/billing/payments/card';
import { type Fact, factOf, idOf, paidByIntent, returnedOf } from '#lib/control/billing/payments/fact';
import { type Change, publish } from '#lib/platform/data/change';
import { transact } from '#lib/platform/data/transaction/transaction';

/** How an event was handled. `known`: it was handled before. */
export interface Handled {
  readonly outcome: Applied['outcome'] | 'known';
  readonly why: string | null;
  /** Whether money was credited or debited now. */
  readonly moved: boolean;
}

const limits = { lockMs: 5_000, statementMs: 10_000 };

/**
 * Handles a Stripe event once, however often and in whatever order it comes (contract: money/payment-events): the
 * row that marks it as handled and its effect are one transaction.
 * @returns `later`: it depends on another event that has not come yet; nothing was kept, so it must be sent again.
 * @throws Error of Stripe's client or the database; nothing was kept.
 */
export async function handleEvent(pool: Pool, stripe: Stripe, event: Stripe.Event): Promise<Handled> {
  const said = factOf(event);
  if (event.account) return once(pool, event, said?.kind === 'paid' ? [said] : []);
  const fact = await asked(stripe, said);
  if (fact?.kind === 'card') await refreshCard(pool, stripe, fact);
  const handled = await once(pool, event, fact === null ? [] : [fact]);
  if (handled.outcome !== 'later' || fact === null) return handled;
  // The event of its payment has not come yet, so Stripe is asked for the payment.
  const intent = await lookUp(stripe, fact);
  if (intent === null) return handled;
  // Other things that the account sells are refunded and disputed too.
  if (!intent.metadata.order) return once(pool, event, []);
  const paid = paidByIntent(intent);
  return paid === null ? handled : once(pool, event, [paid, fact]);
}

/** An event about refunds contains neither all of them nor their current state. */
async function asked(stripe: Stripe, fact: Fact | null): Promise<Fact | null> {
  if (fact?.kind !== 'refunds') return fact;
  return returnedOf(fact, fact.paymentIntent === null ? [] : await refundsOf(stripe, fact.paymentIntent));
}

/** All refunds of a payment as they are now. @throws Error of Stripe's client. */
export async function refundsOf(stripe: Stripe, paymentIntent: string): Promise<Stripe.Refund[]> {
  const refunds: Stripe.Refund[] = [];
  for await (const refund of stripe.refunds.list({ payment_intent: paymentIntent, limit: 100 })) {
    if (idOf(refund.payment_intent) === paymentIntent) refunds.push(refund);
  }
  return refunds;
}

async function lookUp(stripe: Stripe, fact: Fact): Promise<Stripe.PaymentIntent | null> {
  if (fact.kind !== 'returned' && fact.kind !== 'disputed') return null;
  return fact.paymentIntent === null ? null : stripe.paymentIntents.retrieve(fact.paymentIntent);
}

/** The event must be repeated: its transaction is rolled back. */
class Later extends Error {}

function once(pool: Pool, event: Stripe.Event, facts: readonly Fact[]): Promise<Handled> {
  return attempt(pool, (client) => take(client, event, facts));
}

async function attempt(pool: Pool, work: (client: PoolClient) => Promise<Handled>): Promise<Handled> {
  try {
    return await transact(pool, limits, work);
  } catch (error) {
    if (error instanceof Later) return { outcome: 'later', why: error.message, moved: false };
    throw error;
  }
}

async function take(client: PoolClient, event: Stripe.Event, facts: readonly Fact[]): Promise<Handled> {
  const { rowCount } = await client.query(
    `INSERT INTO stripe_event (id, type, created_at, outcome) VALUES ($1, $2, to_timestamp($3), 'ignored')
     ON CONFLICT (id) DO NOTHING`,
    [event.id, event.type, event.created],
  );
  if (rowCount === 0) return { outcome: 'known', why: null, moved: false };
  const { last, changes } = event.account
    ? { last: ofOtherAccount(event.account, facts), changes: [] }
    : await applyAll(client, facts, event.livemode);
  const why = last.outcome === 'applied' ? null : last.why;
  await client.query(
    'UPDATE stripe_event SET outcome = $2, why = $3, top_up_id = $4::uuid, payment_intent = $5 WHERE id = $1',
    [event.id, last.outcome, why, last.topUpId, paymentOf(facts)],
  );
  await publish(client, changes);
  return { outcome: last.outcome, why, moved: changes.length > 0 };
}

/**
 * A connected account can send anything under our signing secret, even the ids of our orders, and its money is not
 * ours: its events move nothing.
 */
function ofOtherAccount(account: string, claims: readonly Fact[]): Applied {
  const why = `it belongs to the connected account ${account}, whose money is not this gateway's`;
  return { outcome: claims.length > 0 ? 'quarantined' : 'ignored', why, topUpId: null };
}

/**
 * Applies what Stripe says about its objects, without an event: repeating it changes nothing.
 * @throws Error of the database; nothing was kept.
 */
export async function takeFacts(pool: Pool, facts: readonly Fact[], livemode: boolean): Promise<Handled> {
  return attempt(pool, async (client) => {
    const { last, changes } = await applyAll(client, facts, livemode);
    await publish(client, changes);
    const why = last.outcome === 'applied' ? null : last.why;
    return { outcome: last.outcome, why, moved: changes.length > 0 };
  });
}

async function applyAll(client: PoolClient, facts: readonly Fact[], livemode: boolean) {
  let last: Applied = { outcome: 'ignored', why: 'it changes nothing here', topUpId: null };
  const changes: Change[] = [];
  for (const fact of facts) {
    if (last.outcome === 'quarantined') {
      // Nothing was credited, so there is nothing to take back.
      last = { outcome: 'ignored', why: `its payment is not credited: ${last.why}`, topUpId: last.topUpId };
      break;
    }
    last = await applyFact(client, fact, livemode);
    if (last.outcome === 'later') throw new Later(last.why);
    if (last.outcome === 'applied') changes.push(...last.changes);
  }
  return { last, changes };
}

function paymentOf(facts: readonly Fact[]): string | null {
  for (const fact of facts) if ('paymentIntent' in fact) return fact.paymentIntent;
  return null;
}
