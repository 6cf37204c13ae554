import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encode } from 'next-auth/jwt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPayments } from '#lib/control/billing/payments/client';
import { createInvitation } from '#lib/control/operations/invitation/operations';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { setCredential } from '#lib/control/operations/provider/credential';
import { ask } from '#lib/control/operations/run';
import { createTopUp } from '#lib/control/operations/top-up/operations';
import { createWebhook, testWebhook } from '#lib/control/operations/webhook/operations';
import { askAs } from '#tests/gateway/contract/speaker';
import { speakers } from '#tests/gateway/contract/speakers/index';
import { addMember, controlHost, createUser, operate } from '#tests/support/control/operate';
import { eventually, insist } from '#tests/support/eventually';
import { type MailServer, startMailServer } from '#tests/support/mail/server';
import { type OwnStack, root, secrets, startStack } from '#tests/support/stack';
import { type Collector, startCollector } from '#tests/support/telemetry/collector';
import { deliverTo } from '#tools/sandbox/payments/deliver';
import { type StripeServer, startStripe } from '#tools/sandbox/payments/server';

/** A word that stands nowhere else, without anything that JSON or CSV would escape. */
const canary = (what: string) => `${what}${randomBytes(12).toString('hex')}`;
const pepper = secrets.KEY_PEPPER;

describe('a secret, a prompt or the id of a payment (contract: operations/secrets, call-log/no-prompts)', {
  timeout: 240_000,
}, () => {
  let stack: OwnStack;
  let stripe: StripeServer;
  let mail: MailServer;
  let collector: Collector;
  let wrongKey: string;
  let slug: string;
  let key: string;
  const email = `${canary('mail')}@example.com`;
  const password = canary('password');
  /** What must stand nowhere but where it was given, by what it is. */
  const hidden: Record<string, string> = {
    password,
    credential: canary('credential'),
    prompt: canary('prompt'),
    cookie: canary('cookie'),
  };
  /** What Stripe calls a payment, its payer and their card. */
  const payment: Record<string, string> = {};

  beforeAll(async () => {
    [stripe, mail, collector] = await Promise.all([startStripe(), startMailServer(), startCollector()]);
    stack = await startStack({
      console: true,
      env: {
        LOG_LEVEL: 'trace',
        METRICS_TOKEN: 'scrape',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        SMTP_URL: mail.url,
        MAIL_FROM: 'gateway@example.com',
        STRIPE_SECRET_KEY: 'sk_test_shop',
        STRIPE_WEBHOOK_SECRET: 'whsec_test',
        STRIPE_API_BASE: stripe.url,
      },
    });
    deliverTo(stripe.account, `${stack.url}/api/stripe/webhook`, 'whsec_test');
    await plant();
  });
  afterAll(async () => {
    await stack.close();
    await collector.leave();
    await Promise.all([mail.close(), stripe.close()]);
  });

  /** Gives each secret where people give it, and uses it. */
  async function plant(): Promise<void> {
    const place = await stack.workspace();
    slug = place.slug;
    key = (await stack.key(slug)).key;
    const given = { workspace: slug, name: 'ci', role: 'owner' };
    const management = await operate(stack.db, createManagementKey, given, pepper);
    await createUser(stack.db, { email, password });
    await operate(stack.db, setCredential, { provider: 'second', value: hidden.credential }, pepper);
    const hook = { workspace: slug, url: 'https://93.184.216.34/hook' };
    const webhook = await operate(stack.db, createWebhook, hook, pepper);
    await operate(stack.db, testWebhook, { workspace: slug, id: webhook.id }, pepper);
    Object.assign(hidden, { key, management: management.key, webhook: webhook.key });
    await pay();
    const ids: string[] = [];
    for (const speaker of speakers) {
      for (const directive of [`echo?say=${hidden.prompt}`, `fault/status-500?say=${hidden.prompt}`])
        ids.push((await askAs(speaker, stack.url, key, { directive })).id);
    }
    const post = (path: string, body: object, secret = key) =>
      fetch(stack.url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          cookie: `session=${hidden.cookie}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      });
    const prompt = `[[film?job_ms=50&say=${hidden.prompt}]]`;
    const film = await post('/v1/videos', { model: 'sandbox/film', prompt, seconds: '4' });
    ids.push(film.headers.get('x-request-id') ?? '');
    const messages = [{ role: 'user', content: hidden.prompt }];
    const body = { model: 'sandbox/echo', messages };
    const typo = `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`;
    wrongKey = await (await post('/v1/chat/completions', body, typo)).text();
    const logged = 'SELECT count(*)::int AS n FROM call WHERE workspace_id = $1';
    await eventually(
      async () => (await stack.db.pool.query(logged, [place.id])).rows[0].n >= ids.length,
      true,
    );
  }

  /** A card pays a top-up and is saved. */
  async function pay(): Promise<void> {
    const settings = {
      secretKey: 'sk_test_shop',
      webhookSecret: 'whsec_test',
      apiBase: stripe.url,
      feeBasisPoints: 0,
    };
    const host = { ...controlHost(stack.db, pepper), payments: openPayments(settings, stack.url) };
    const actor = { kind: 'operator', name: 'test', address: null } as const;
    await ask(host, createTopUp, { actor, workspace: slug, input: { amount: '20', saveCard: true } });
    const session = [...stripe.account.sessions.values()].at(-1);
    if (!session) throw new Error('no page to pay on was made');
    stripe.account.pay(session);
    const paid = () => stack.db.prisma.topUp.count({ where: { sessionId: session.id, status: 'paid' } });
    await eventually(paid, 1);
    const { payment_intent: intent, customer } = session;
    // Kept after the payment is.
    const card = await insist(async () => {
      const payer = await stack.db.prisma.payer.findFirst({ where: { customer: String(customer) } });
      if (!payer?.paymentMethod) throw new Error('no card is kept');
      return payer.paymentMethod;
    });
    Object.assign(payment, { session: session.id, intent, customer, card });
  }

  /** A person of the workspace, by their session's cookie. */
  async function signedIn(workspace: string, role: string): Promise<string> {
    const user = { id: randomUUID(), email: `${role}-${randomUUID()}@example.com` };
    const sessionId = randomUUID();
    const endsAtMs = Date.now() + 3_600_000;
    await stack.db.prisma.user.create({ data: user });
    await stack.db.prisma.session.create({
      data: { id: sessionId, userId: user.id, version: 1, method: 'password', endsAt: new Date(endsAtMs) },
    });
    await addMember(stack.db, { workspace, email: user.email, role });
    const token = { userId: user.id, sessionId, endsAtMs };
    return `next-auth.session-token=${await encode({ token, secret: secrets.NEXTAUTH_SECRET })}`;
  }

  /** Every row of every table as text, by table. */
  async function readTables(): Promise<Map<string, string>> {
    const { rows: tables } = await stack.db.pool.query(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    const texts = new Map<string, string>();
    for (const { name } of tables) {
      const { rows } = await stack.db.pool.query(
        `SELECT string_agg(t::text, E'\\n') AS text FROM ${name} AS t`,
      );
      texts.set(name, rows[0].text ?? '');
    }
    return texts;
  }

  /** Which of them stand where, plain, in hex or in base64. */
  const found = (places: ReadonlyMap<string, string>, values: Readonly<Record<string, string>>) =>
    Object.entries(values).flatMap(([what, value]) => {
      expect([what, value.length > 10]).toEqual([what, true]);
      const forms = [value, Buffer.from(value).toString('hex'), Buffer.from(value).toString('base64')];
      return [...places].flatMap(([place, text]) =>
        forms.some((form) => text.includes(form)) ? [`${what} in ${place}`] : [],
      );
    });

  it('is in no table, log, metric or answer to others, whatever family it went through', async () => {
    const metrics = await fetch(`${stack.url}/api/metrics`, { headers: { authorization: 'Bearer scrape' } });
    const tables = await readTables();
    const told = new Map([
      ['the log', await stack.log()],
      ['the metrics', await metrics.text()],
      ['the refusal of a wrong key', wrongKey],
    ]);
    expect(found(new Map([...tables, ...told]), hidden)).toEqual([]);
    expect(found(told, { ...payment, email })).toEqual([]);
    // What is kept is found: an address of a person, in its own table and the trail.
    const kept = [...tables].flatMap(([place, text]) => (text.includes(email) ? [place] : []));
    expect(kept.sort()).toEqual(['"user"', 'audit']);
    expect(found(tables, payment).length).toBeGreaterThanOrEqual(Object.keys(payment).length);
    expect(told.get('the log')).not.toBe('');
  });

  it('is in no export, page, mail, span or event', async () => {
    const other = await stack.workspace();
    await operate(stack.db, createInvitation, { workspace: slug, email: 'new@example.com', role: 'viewer' });
    const people = [
      { cookie: await signedIn(slug, 'owner'), workspace: slug, paths: exports },
      { cookie: await signedIn(slug, 'viewer'), workspace: slug, paths: [...pages(), ...exports] },
      { cookie: await signedIn(other.slug, 'owner'), workspace: other.slug, paths: pages() },
      { cookie: await signedIn(other.slug, 'admin'), workspace: slug, paths: exports },
    ];
    const places = new Map<string, string>();
    let shown = 0;
    for (const [at, { cookie, workspace, paths }] of people.entries()) {
      for (const path of paths) {
        const address = path.replace('[workspace]', workspace).replace('[month]', month);
        const answer = await fetch(stack.url + address, { headers: { cookie }, redirect: 'manual' });
        places.set(`${address} for ${at}`, await answer.text());
        if (answer.status === 200) shown += 1;
      }
    }
    expect(shown).toBeGreaterThan(40);
    await eventually(() => mail.mails.length > 0, true);
    await eventually(() => collector.taken().length > speakers.length, true);
    places.set('mails', mail.mails.map(({ raw }) => raw.replaceAll('=\r\n', '')).join());
    places.set('spans', JSON.stringify(collector.deliveries));
    const { rows } = await stack.db.pool.query(
      'SELECT string_agg(d::text, $$ $$) AS text FROM webhook_delivery d',
    );
    places.set('events', rows[0].text ?? '');
    expect(places.get('events')).not.toBe('');
    expect(found(places, { ...hidden, ...payment, email })).toEqual([]);
  });
});

const month = new Date().toISOString().slice(0, 7);
const exports = ['logs/export', 'audit/csv', 'billing/ledger/export', 'usage/csv?metric=spend'].map(
  (path) => `/[workspace]/${path}`,
);

/** Every page of the build that is about no single thing of a workspace. */
function pages(): string[] {
  const routes: Record<string, string> = JSON.parse(
    readFileSync(join(root, '.next/app-path-routes-manifest.json'), 'utf8'),
  );
  return Object.entries(routes)
    .filter(([file, address]) => file.endsWith('/page') && !/^\/operator|\[(?!workspace|month)/.test(address))
    .map(([, address]) => address)
    .filter((address) => !address.startsWith('/_'));
}
