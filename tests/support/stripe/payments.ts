import { openPayments, type PaymentSettings, type Payments } from '#lib/billing/payments/client';
import { startStripe } from '#lib/sandbox/payments/server';

/** What a host of the control plane needs to take payments, at a stand-in for Stripe of its own. */
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
