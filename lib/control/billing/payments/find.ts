import type { Payments } from '#lib/control/billing/payments/client';
import type { PaymentSettings } from '#lib/platform/env/part-settings';

/** Payments by card where the settings name Stripe; its client is loaded only then. */
export async function findPayments(
  settings: PaymentSettings | null,
  publicUrl: string,
): Promise<Payments | null> {
  if (settings === null) return null;
  const { openPayments } = await import('#lib/control/billing/payments/client');
  return openPayments(settings, publicUrl);
}
