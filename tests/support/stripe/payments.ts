import { openPayments, type Payments } from '#lib/control/billing/payments/client';
import type { PaymentSettings } from '#lib/platform/env/part-settings';
import { startStripe } from '#tools/sandbox/payments/server';

/** What a host of the control plane needs to take payments, with its own stand-in for Stripe. */
export interface TestPayments {
  readonly payments: Payments;
  readonly paymentSettings: PaymentSettings;
}

export async function startPayments(): Promise<TestPayments & { close(): Promise<void> }> {
  const server = await startStripe();
  const paymentSettings = {
    secretKey: 'sk_test_host',
    webhookSecret: 'whsec_test',
    apiBase: server.url,
    feeBasisPoints: 0,
  };
  const payments = openPayments(paymentSettings, 'http://console.test');
  return { payments, paymentSettings, close: () => server.close() };
}
