import { createHmac, randomBytes } from 'node:crypto';

/** A new secret of a webhook: 256 random bits behind a prefix that scanners know. */
export function makeWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

/** What a sealed secret is bound to. */
export function webhookContext(webhookId: string): string {
  return `webhook-secret:${webhookId}`;
}

/**
 * The signature header of a delivery: HMAC-SHA-256 in hex over "timestamp.body", so that an old delivery cannot be sent
 * again later (contract: control-plane/webhooks).
 * @param atSeconds Unix time.
 */
export function signatureOf(secret: string, atSeconds: number, body: string): string {
  const mac = createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex');
  return `t=${atSeconds},v1=${mac}`;
}
