import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import { Agent } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DeliveryHost, deliverOne, deliveryHost } from '#lib/control/alerts/deliver';
import { ask } from '#lib/control/operations/run';
import {
  createWebhook,
  deleteWebhook,
  listDeliveries,
  redeliver,
  setWebhook,
  testWebhook,
} from '#lib/control/operations/webhook/operations';
import { refusalOf } from '#tests/gateway/control/accounts/people';
import { controlHost, createWorkspace, sealingKey } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();
const actor = { kind: 'operator', name: 'test', address: null } as const;

interface Heard {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
let heard: Heard[] = [];
/** Answers that `/slow` has not given yet. */
let held: ServerResponse[] = [];
let server: Server;
let base: string;
/** How the receiver answers, by path. */
const answers: Record<string, () => { status: number; location?: string } | null> = {
  '/slow': () => null,
  '/moved': () => ({ status: 302, location: '/ok' }),
  '/down': () => ({ status: 500 }),
};
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const path = request.url ?? '';
    heard.push({ path, headers: request.headers, body: Buffer.concat(parts).toString() });
    const answer = answers[path]?.();
    if (answer === null) {
      held.push(response);
      return;
    }
    const { status, location } = answer ?? { status: 200 };
    response.writeHead(status, location ? { location } : {}).end('x'.repeat(100_000));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  [heard, held] = [[], []];
  await db.prisma.webhookDelivery.deleteMany();
});

/** The receiver stands on this machine, where no webhook of the product may lead. */
const sender = (given: Partial<DeliveryHost> = {}): DeliveryHost => ({
  pool: db.pool,
  sealingKey,
  report: () => undefined,
  refuse: async () => null,
  dispatcher: new Agent(),
  answerMs: 60_000,
  ...given,
});
const run = (operation: Parameters<typeof ask>[1], workspace: string, input: object) =>
  ask(controlHost(db), operation, { actor, workspace, input }) as Promise<never>;

async function newWebhook(path = '/ok') {
  const { slug } = await createWorkspace(db, { name: 'Hooks' });
  const made: { id: string; key: string } = await run(createWebhook, slug, {
    url: 'https://93.184.216.34/hook',
  });
  await db.prisma.webhook.update({ where: { id: made.id }, data: { url: `${base}${path}` } });
  const test = (): Promise<{ id: string }> => run(testWebhook, slug, { id: made.id }).finally(due);
  const log = async () => {
    const {
      data,
    }: { data: { state: string; tries: number; status: number | null; error: string | null }[] } = await run(
      listDeliveries,
      slug,
      { id: made.id },
    );
    return data;
  };
  return { slug, ...made, test, log };
}
/** The next try of each is due, whatever the clock does now; the order stays. */
const due = () =>
  db.pool.query(
    `UPDATE webhook_delivery SET next_try_at = least(next_try_at, now()) - interval '1 s'
     WHERE next_try_at IS NOT NULL AND taken_until IS NULL`,
  );

describe('a webhook (contract: control-plane/webhooks)', () => {
  it('gets a signed event, which an implementation of others verifies, once', async () => {
    const { key, test, log, slug } = await newWebhook();
    const { id } = await test();
    await deliverOne(sender());
    expect(await deliverOne(sender())).toBe(false);
    expect(heard).toHaveLength(1);
    const { headers = {}, body = '' } = heard[0] ?? {};
    const header = String(new Map(Object.entries(headers)).get('x-gateway-signature'));
    const verify = (payload: string, secret: string) =>
      Stripe.webhooks.signature?.verifyHeader(payload, header, secret, 300);
    expect(verify(body, key)).toBe(true);
    expect(() => verify(`${body} `, key)).toThrow();
    expect(() => verify(body, 'whsec_other')).toThrow();
    expect(JSON.parse(body)).toMatchObject({ id, type: 'test', workspace: slug });
    expect(headers).toMatchObject({ 'x-gateway-delivery': id, 'content-type': 'application/json' });
    expect(await log()).toMatchObject([{ state: 'delivered', tries: 1, status: 200, error: null }]);
  });

  it('has its secret sealed, bound to its row, and shown in no row and no audit', async () => {
    const [one, other] = [await newWebhook(), await newWebhook()];
    const { secret } = await db.prisma.webhook.findUniqueOrThrow({ where: { id: one.id } });
    expect(secret).not.toContain(one.key);
    const rows = await db.prisma.audit.findMany({ where: { subject: one.id } });
    expect(JSON.stringify(rows)).not.toContain(one.key);
    await db.prisma.webhook.update({ where: { id: other.id }, data: { secret } });
    await other.test();
    await deliverOne(sender());
    expect(heard).toEqual([]);
    expect((await other.log())[0]?.error).toContain('cannot be decrypted');
  });

  it('that answers 500 is tried again, later each time, until a day is over', async () => {
    const { test, log } = await newWebhook('/down');
    await test();
    for (const pause of [10, 60, 300, 1800, 7200, 14_400, 14_400, 14_400]) {
      await due();
      const beforeMs = Date.now();
      await deliverOne(sender());
      const { nextTryAt } = await db.prisma.webhookDelivery.findFirstOrThrow();
      const nextMs = nextTryAt?.getTime() ?? 0;
      // To the second: the database's clock is read somewhere between these two.
      expect(nextMs).toBeGreaterThan(beforeMs + pause * 1000 - 1000);
      expect(nextMs).toBeLessThan(Date.now() + pause * 1000 + 1000);
    }
    expect(await log()).toMatchObject([
      { state: 'waiting', tries: 8, status: 500, error: 'it returned 500' },
    ]);
    await db.pool.query("UPDATE webhook_delivery SET since = now() - interval '21 hours'");
    await due();
    await deliverOne(sender());
    expect(await log()).toMatchObject([{ state: 'given up', tries: 9 }]);
    expect(await deliverOne(sender())).toBe(false);
  });

  it('gets an event again on request', async () => {
    const { id, slug, test, log } = await newWebhook();
    const { id: delivery } = await test();
    await deliverOne(sender());
    await run(redeliver, slug, { id, delivery });
    await due();
    await deliverOne(sender());
    expect(heard.map(({ body }) => JSON.parse(body).id)).toEqual([delivery, delivery]);
    expect(await log()).toMatchObject([{ state: 'delivered' }]);
    const other = await newWebhook();
    const theirs = run(redeliver, other.slug, { id: other.id, delivery });
    expect(await refusalOf(theirs)).toContain('there is no delivery');
  });

  it('that redirects is not followed', async () => {
    const { test, log } = await newWebhook('/moved');
    await test();
    await deliverOne(sender());
    expect(heard.map(({ path }) => path)).toEqual(['/moved']);
    expect((await log())[0]).toMatchObject({ state: 'waiting', status: 302 });
  });

  it('that is slow times out and does not delay others', async () => {
    const [slow, quick] = [await newWebhook('/slow'), await newWebhook()];
    await slow.test();
    await slow.test();
    await quick.test();
    const first = deliverOne(sender());
    await expect.poll(() => held.length).toBe(1);
    await deliverOne(sender());
    expect(heard.map(({ path }) => path)).toEqual(['/slow', '/ok']);
    held[0]?.end();
    await first;
    expect(await deliverOne(sender({ answerMs: 300 }))).toBe(true);
    expect((await slow.log()).map(({ state, error }) => [state, error]).sort()).toEqual([
      ['delivered', null],
      ['waiting', 'it did not respond in time'],
    ]);
  });

  it('leaves the lanes to other workspaces when several of one workspace are slow', async () => {
    const [slow, quick] = [await newWebhook('/slow'), await newWebhook()];
    const more = await Promise.all(
      [1, 2].map(() => run(createWebhook, slow.slug, { url: 'https://93.184.216.34/hook' })),
    );
    await slow.test();
    for (const { id } of more as { id: string }[]) {
      await db.prisma.webhook.update({ where: { id }, data: { url: `${base}/slow` } });
      await run(testWebhook, slow.slug, { id });
    }
    await due();
    const running = [deliverOne(sender())];
    await expect.poll(() => held.length).toBe(1);
    running.push(deliverOne(sender()));
    await expect.poll(() => held.length).toBe(2);
    expect(await deliverOne(sender())).toBe(false);
    await quick.test();
    expect(await deliverOne(sender())).toBe(true);
    expect(heard.map(({ path }) => path)).toEqual(['/slow', '/slow', '/ok']);
    for (const response of held) response.end();
    await Promise.all(running);
    expect(await deliverOne(sender({ answerMs: 300 }))).toBe(true);
  });

  it('is sent no more events by hand while 20 wait for it', async () => {
    const { id, slug, test, log } = await newWebhook('/down');
    for (let n = 0; n < 20; n++) await test();
    expect(await refusalOf(test())).toContain('20 events are waiting');
    await deliverOne(sender());
    await db.prisma.webhookDelivery.updateMany({ where: { webhookId: id }, data: { nextTryAt: null } });
    const [given] = (await log()) as unknown as { id: string }[];
    await run(redeliver, slug, { id, delivery: given?.id });
    await test();
  });

  it('whose name resolves to a private address is never connected to', async () => {
    const { id, test, log } = await newWebhook();
    const port = new URL(base).port;
    const { dispatcher } = deliveryHost({ pool: db.pool, sealingKey, report: () => undefined });
    await db.prisma.webhook.update({ where: { id }, data: { url: `http://localhost:${port}/ok` } });
    await test();
    await deliverOne(sender({ dispatcher }));
    expect((await log())[0]?.error).toContain('private address');
    await due();
    await deliverOne({ ...deliveryHost({ pool: db.pool, sealingKey, report: () => undefined }) });
    expect((await log())[0]?.error).toContain('use https');
    expect(heard).toEqual([]);
  });

  it('that is switched off or deleted hears nothing more', async () => {
    const { id, slug, test } = await newWebhook();
    await test();
    await run(setWebhook, slug, { id, enabled: false });
    expect(await deliverOne(sender())).toBe(false);
    await run(deleteWebhook, slug, { id });
    expect(await db.prisma.webhookDelivery.count({ where: { webhookId: id } })).toBe(0);
    expect(await refusalOf(test())).toContain('there is no webhook');
  });

  it('is sent each event once by several processes', async () => {
    const hooks = await Promise.all(Array.from({ length: 6 }, () => newWebhook()));
    for (const { test } of hooks) await test();
    const sendAll = async () => {
      while (await deliverOne(sender()));
    };
    await Promise.all([sendAll(), sendAll(), sendAll(), sendAll()]);
    await sendAll();
    expect(heard).toHaveLength(6);
  });
});
