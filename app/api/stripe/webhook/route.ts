import { takeWebhook } from '#lib/billing/payments/webhook';
import { getConsoleHost } from '#lib/console/db';

/** Stripe's events (contract: money/payment-events). */
export function POST(request: Request): Promise<Response> {
  const { control, report } = getConsoleHost();
  return takeWebhook(request, control, report);
}
