import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takeWebhook } from '#lib/control/billing/payments/webhook';
import { noteReceipts } from '#lib/control/billing/reconcile/receipts';
import { operations } from '#lib/control/operations/operations';
import { ask, runAny } from '#lib/control/operations/run';
import { showTopUp } from '#lib/control/operations/top-up/operations';
import {
  balanceOf,
  newWorkspace,
  openShop,
  operator,
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

  it('takes events of a connected account and credits nothing, whatever order they name', async () => {
    const { id, bodies } = await paidEvents();
    const ofOther = bodies.map((body) => ({ ...JSON.parse(body), account: 'acct_other' }));
    for (const event of ofOther) expect(await send(JSON.stringify(event))).toBe(200);
    expect(await balanceOf(shop, id)).toBe(0n);
    const kept = await shop.db.prisma.stripeEvent.findMany({
      where: { id: { in: ofOther.map((event) => event.id) }, outcome: 'quarantined' },
    });
    expect(kept.map(({ type }) => type)).toContain('checkout.session.completed');
    expect(kept[0]?.why).toContain('acct_other');
    // The order is open still, for a payment of our own account.
    for (const body of bodies)
      await send(JSON.stringify({ ...JSON.parse(body), id: `own_${JSON.parse(body).id}` }));
    expect(await balanceOf(shop, id)).toBe(20_000_000_000n);
  });

  it('leaves a dispute that a connected account claims without effect', async () => {
    const { id, slug } = await newWorkspace(shop);
    const { session } = await order(shop, slug, '20');
    shop.server.account.events.splice(0);
    shop.server.account.pay(session);
    for (const event of shop.server.account.events.splice(0)) await send(JSON.stringify(event));
    const paid = await shop.db.prisma.topUp.findFirstOrThrow({ where: { workspaceId: id } });
    shop.server.account.dispute(paid.paymentIntent ?? '', 'lost');
    for (const event of shop.server.account.events.splice(0))
      expect(await send(JSON.stringify({ ...event, account: 'acct_other' }))).toBe(200);
    expect(await balanceOf(shop, id)).toBe(20_000_000_000n);
  });

  it('reads at most 1 MiB of what strangers send', async () => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536;
        if (sent > 8_000_000) controller.close();
        else controller.enqueue(new Uint8Array(65_536));
      },
    });
    const init = { method: 'POST', body, headers: { 'stripe-signature': 't=1,v1=00' }, duplex: 'half' };
    const request = new Request('http://gateway.test/api/stripe/webhook', init);
    expect((await takeWebhook(request, shop.host, () => {})).status).toBe(413);
    expect(sent).toBeLessThan(2_000_000);
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

  it('keeps receipt, invoice and saved card of what was paid (contract: money/saved-card)', async () => {
    const { id, slug } = await newWorkspace(shop);
    const { topUp, session } = await order(shop, slug, '20', true);
    shop.server.account.events.splice(0);
    shop.server.account.pay(session);
    for (const event of shop.server.account.events.splice(0)) {
      expect(await send(JSON.stringify(event))).toBe(200);
    }
    const asked = { actor: operator, workspace: slug, input: { id: topUp.id } };
    const charges = [...shop.server.account.charges.values()];
    expect(await ask(shop.host, showTopUp, asked)).toMatchObject({
      status: 'paid',
      receiptUrl: charges.find(({ payment_intent }) => payment_intent === session.payment_intent)
        ?.receipt_url,
      invoiceUrl: `${shop.server.url}/invoices/${session.invoice}`,
    });
    const payer = await shop.db.prisma.payer.findFirstOrThrow({ where: { workspaceId: id } });
    expect(payer).toMatchObject({ customer: session.customer, cardLast4: '4242' });
    const owner = shop.server.account.customers.get(payer.customer);
    expect(owner?.default_payment_method).toBe(payer.paymentMethod);
  });

  it('keeps receipt and invoice after the card, so that reconciling repeats a card that could not be kept', async () => {
    const { id, slug } = await newWorkspace(shop);
    const { topUp, session } = await order(shop, slug, '20', true);
    shop.server.account.events.splice(0);
    shop.server.account.pay(session);
    const { stripe } = shop.payments;
    const customers = Object.create(stripe.customers, {
      update: { value: () => Promise.reject(new Error('Stripe is away')) },
    });
    const payments = { ...shop.payments, stripe: Object.create(stripe, { customers: { value: customers } }) };
    for (const event of shop.server.account.events.splice(0)) {
      expect(await send(JSON.stringify(event), { host: { payments } })).toBe(200);
    }
    const asked = { actor: operator, workspace: slug, input: { id: topUp.id } };
    const paid = { status: 'paid', receiptUrl: null, invoiceUrl: null };
    expect(await ask(shop.host, showTopUp, asked)).toMatchObject(paid);
    await noteReceipts(shop.db.pool, stripe, []);
    expect(await ask(shop.host, showTopUp, asked)).toMatchObject({
      receiptUrl: expect.any(String),
      invoiceUrl: expect.any(String),
    });
    const payer = await shop.db.prisma.payer.findFirstOrThrow({ where: { workspaceId: id } });
    const owner = shop.server.account.customers.get(payer.customer);
    expect(owner?.default_payment_method).toBe(payer.paymentMethod);
  });

  it('keeps receipt and invoice where the customer who saved a card is gone at Stripe by then', async () => {
    const { slug } = await newWorkspace(shop);
    const { topUp, session } = await order(shop, slug, '20', true);
    shop.server.account.events.splice(0);
    shop.server.account.pay(session);
    shop.server.account.customers.delete(session.customer ?? '');
    for (const event of shop.server.account.events.splice(0)) await send(JSON.stringify(event));
    const asked = { actor: operator, workspace: slug, input: { id: topUp.id } };
    expect(await ask(shop.host, showTopUp, asked)).toMatchObject({
      status: 'paid',
      receiptUrl: expect.any(String),
      invoiceUrl: expect.any(String),
    });
  });

  it('quarantines a payment of another customer, and ledger verify names it', async () => {
    const { id, slug } = await newWorkspace(shop);
    const { session } = await order(shop, slug, '20');
    shop.server.account.events.splice(0);
    shop.server.account.pay(session);
    const [event] = shop.server.account.events.splice(0);
    Object.assign(event?.data.object ?? {}, { customer: 'cus_stranger' });
    expect(await send(JSON.stringify(event))).toBe(200);
    expect(await balanceOf(shop, id)).toBe(0n);
    const verify = operations.find(({ name }) => name === 'ledger.verify');
    if (!verify) throw new Error('there is a ledger.verify');
    const { output } = await runAny(shop.host, verify, { actor: operator, input: {} });
    expect(output).toMatchObject({
      quarantined: expect.arrayContaining([
        expect.objectContaining({
          event: event?.id,
          payment: session.payment_intent,
          why: expect.stringMatching(/customer cus_stranger/),
        }),
      ]),
    });
    expect(verify.text?.(output)).toContain(`${session.payment_intent} (${event?.id})`);
  });
});
