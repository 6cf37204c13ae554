import { getConsoleHost } from '#lib/console/db';
import { takeWebhook } from '#lib/control/billing/payments/webhook';

/** Stripe's events (contract: money/payment-events). */
export function POST(request: Request): Promise<Response> {
  const { control, report } = getConsoleHost();
  return takeWebhook(request, control, report);
}
