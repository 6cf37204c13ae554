import Stripe from 'stripe';
import type { PaymentSettings } from '#lib/platform/env/part-settings';

/** Payments by card, as operations and the webhook use them. */
export interface Payments {
  readonly stripe: Stripe;
  /** null: no webhook is served. */
  readonly webhookSecret: string | null;
  /** Whether the key moves real money. */
  readonly livemode: boolean;
  /** Whether payments go to a stand-in, with play money. */
  readonly standIn: boolean;
  readonly feeBasisPoints: number;
  /** Address of the console, without a slash at the end: people return to it from Stripe's page. */
  readonly publicUrl: string;
}

/** Requests are retried with the same idempotency key, so that none takes effect twice. */
const RETRIES = 2;
const TIMEOUT_MS = 20_000;

export function openPayments(settings: PaymentSettings, publicUrl: string): Payments {
  return {
    stripe: new Stripe(settings.secretKey, {
      ...addressOf(settings.apiBase),
      maxNetworkRetries: RETRIES,
      timeout: TIMEOUT_MS,
      telemetry: false,
      appInfo: { name: 'model-gateway' },
    }),
    webhookSecret: settings.webhookSecret,
    livemode: /^[rs]k_live_/.test(settings.secretKey),
    standIn: settings.apiBase !== null,
    feeBasisPoints: settings.feeBasisPoints,
    publicUrl,
  };
}

function addressOf(apiBase: string | null): { host?: string; port?: number; protocol?: 'http' | 'https' } {
  if (apiBase === null) return {};
  const { hostname, port, protocol } = new URL(apiBase);
  const plain = protocol === 'http:';
  return {
    host: hostname,
    port: port === '' ? (plain ? 80 : 443) : Number(port),
    protocol: plain ? 'http' : 'https',
  };
}
