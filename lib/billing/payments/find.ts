import type { PaymentSettings, Payments } from '#lib/billing/payments/client';

/** Payments by card where the settings name Stripe; its client is loaded only then. */
export async function findPayments(
  settings: PaymentSettings | null,
  publicUrl: string,
): Promise<Payments | null> {
  if (settings === null) return null;
  const { openPayments } = await import('#lib/billing/payments/client');
  return openPayments(settings, publicUrl);
}
