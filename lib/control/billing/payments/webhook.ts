import type { Pool } from 'pg';
import type Stripe from 'stripe';
import type { Payments } from '#lib/control/billing/payments/client';
import { noteDetails } from '#lib/control/billing/payments/details';
import { factOf } from '#lib/control/billing/payments/fact';
import { handleEvent } from '#lib/control/billing/payments/handle';
import { readAtMost } from '#lib/platform/read-at-most';

/** Stripe's events have a few kilobytes; a host that runs only Next sets no limit of its own. */
const MOST_BYTES = 1024 * 1024;

/** What the webhook works with. */
export interface WebhookHost {
  readonly db: { readonly pool: Pool };
  readonly payments?: Payments | null;
  /** Has the gateway processes of this machine read what was just committed. */
  changed(): Promise<void> | void;
}

/**
 * Answers a webhook request from Stripe (contract: money/payment-events): 404 without a webhook secret; 400 for a
 * signature that is wrong or older than 300 s; 413 for a body over 1 MiB; 500 if the event must be sent again;
 * otherwise 200, even for quarantined events.
 */
export async function takeWebhook(
  request: Request,
  host: WebhookHost,
  report: (error: unknown) => void,
): Promise<Response> {
  const { payments } = host;
  if (!payments?.webhookSecret) return said(404, 'No webhook is configured: set STRIPE_WEBHOOK_SECRET.');
  const signature = request.headers.get('stripe-signature');
  if (signature === null)
    return said(400, 'The Stripe-Signature header is missing. Only Stripe may call this endpoint.');
  let event: Stripe.Event;
  try {
    const body = await readAtMost(request.body, MOST_BYTES);
    if (body === null) return said(413, 'The body is larger than 1 MiB, which no Stripe event is.');
    event = payments.stripe.webhooks.constructEvent(body, signature, payments.webhookSecret);
  } catch {
    return said(
      400,
      'The signature does not match the body or is older than 300 s. Check STRIPE_WEBHOOK_SECRET and the clock.',
    );
  }
  try {
    const { outcome, why, moved } = await handleEvent(host.db.pool, payments.stripe, event);
    if (outcome === 'later') return said(500, `The event cannot be processed yet: ${why}. Send it again.`);
    if (outcome === 'quarantined') report(new Error(`payment event ${event.id} quarantined: ${why}`));
    if (moved) await host.changed();
    const fact = factOf(event);
    // The credit is posted; if this fails, reconciling adds the receipt.
    if (moved && fact?.kind === 'paid')
      await noteDetails(host.db.pool, payments.stripe, fact.paymentIntent).catch(report);
    return Response.json({ received: true, outcome });
  } catch (error) {
    report(error);
    return said(500, 'The event could not be processed. Send it again.');
  }
}

function said(status: number, message: string): Response {
  return Response.json({ error: { message } }, { status });
}
