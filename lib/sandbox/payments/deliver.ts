import Stripe from 'stripe';
import type { Account } from '#lib/sandbox/payments/account';

/** Sends each event of the account to a webhook as it happens, signed, and again until it is taken. */
export function deliverTo(account: Account, webhookUrl: string, secret: string): void {
  const { webhooks } = new Stripe('sk_test_deliver');
  account.onEvent = (event) => {
    const payload = JSON.stringify(event);
    const send = async (left: number): Promise<void> => {
      const signature = webhooks.generateTestHeaderString({ payload, secret });
      const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
      const answer = await fetch(webhookUrl, { method: 'POST', body: payload, headers }).catch(() => null);
      if (!answer?.ok && left > 0) await send(left - 1);
    };
    void send(3);
  };
}
