import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Account } from '#tools/sandbox/payments/account';
import type { StripeEvent } from '#tools/sandbox/payments/objects';

const MOST_TRIES = 8;
const FIRST_PAUSE_MS = 250;

/** Sends each event of the account to a webhook as it happens, signed, and again until it is accepted. */
export function deliverTo(account: Account, webhookUrl: string, secret: string): void {
  account.onEvent = (event) => void deliver(event, webhookUrl, secret);
}

async function deliver(event: StripeEvent, webhookUrl: string, secret: string): Promise<void> {
  const payload = JSON.stringify(event);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const headers = { 'content-type': 'application/json', 'stripe-signature': signatureOf(payload, secret) };
    const answer = await fetch(webhookUrl, { method: 'POST', body: payload, headers }).catch(() => null);
    if (answer?.ok) return;
    await pause(FIRST_PAUSE_MS * 2 ** tries, undefined, { ref: false });
  }
}

/** As Stripe signs: HMAC-SHA-256 over the time and the body. */
function signatureOf(payload: string, secret: string): string {
  const at = Math.floor(Date.now() / 1000);
  return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${payload}`).digest('hex')}`;
}
