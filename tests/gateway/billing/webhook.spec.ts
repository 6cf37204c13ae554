import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takeWebhook } from '#lib/billing/payments/webhook';
import {
  balanceOf,
  newWorkspace,
  openShop,
  order,
  type Shop,
  webhookSecret,
} from '#tests/gateway/billing/account';

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

interface Sent {
  readonly secret?: string;
  readonly ageSeconds?: number;
  readonly signature?: string | null;
  readonly host?: object;
}

/** Sends a body as Stripe would. @returns the status. */
async function send(
  body: string,
  { secret = webhookSecret, ageSeconds = 0, signature, host = {} }: Sent = {},
) {
  const timestamp = Math.floor(Date.now() / 1000) - ageSeconds;
  const signed = shop.payments.stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp });
  const header = signature === undefined ? signed : signature;
  const request = new Request('http://gateway.test/api/stripe/webhook', {
    method: 'POST',
    body,
    headers: header === null ? {} : { 'stripe-signature': header },
  });
  return (await takeWebhook(request, { ...shop.host, ...host }, () => {})).status;
}

async function paidEvents() {
  const { id, slug } = await newWorkspace(shop);
  const { session } = await order(shop, slug, '20');
  shop.server.account.events.splice(0);
  shop.server.account.pay(session);
  return { id, bodies: shop.server.account.events.splice(0).map((event) => JSON.stringify(event)) };
}

describe('the webhook (contract: money/payment-events)', () => {
  it('takes what Stripe has signed, and credits it once', async () => {
    const { id, bodies } = await paidEvents();
    for (const body of [...bodies, ...bodies]) expect(await send(body)).toBe(200);
    expect(await balanceOf(shop, id)).toBe(20_000_000_000n);
  });

  it('refuses what is forged, stale or unsigned, and keeps nothing of it', async () => {
    const { id, bodies } = await paidEvents();
    const [body = ''] = bodies;
    expect(await send(body, { secret: 'whsec_other' })).toBe(400);
    expect(await send(body, { secret: '' }).catch(() => 400)).toBe(400);
    expect(await send(body, { ageSeconds: 301 })).toBe(400);
    expect(await send(body, { signature: null })).toBe(400);
    expect(await send(body, { signature: 't=1,v1=00' })).toBe(400);
    expect(await send(`${body} `, { signature: 'nonsense' })).toBe(400);
    expect(await balanceOf(shop, id)).toBe(0n);
    expect(await shop.db.prisma.stripeEvent.count({ where: { id: JSON.parse(body).id } })).toBe(0);
  });

  it('is not there without its secret', async () => {
    expect(await send('{}', { host: { payments: { ...shop.payments, webhookSecret: null } } })).toBe(404);
    expect(await send('{}', { host: { payments: null } })).toBe(404);
  });

  it('has Stripe send again what cannot be taken yet', async () => {
    const { bodies } = await paidEvents();
    const unknown = JSON.parse(bodies[0] ?? '{}');
    unknown.data.object.metadata.order = crypto.randomUUID();
    expect(await send(JSON.stringify(unknown))).toBe(500);
  });
});
