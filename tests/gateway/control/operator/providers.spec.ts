import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { listModelNames } from '#lib/control/operations/catalogue/operations';
import { setCredential } from '#lib/control/operations/provider/credential';
import { listProviders } from '#lib/control/operations/provider/list';
import { testProvider } from '#lib/control/operations/provider/test';
import { ask, type OperationRequest } from '#lib/control/operations/run';
import type { Store } from '#lib/control/operations/store';
import { loadCatalogue, readCatalogueWithin } from '#lib/gateway/snapshot/catalogue';
import { refusalOf } from '#tests/gateway/control/accounts/people';
import { controlHost, sealingKey } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';
import { type Sandbox, startSandbox } from '#tools/sandbox/server';

const db = await openOwnDatabase();
const actor: OperationRequest['actor'] = { kind: 'operator', name: 'test', address: '192.0.2.7' };
const secret = 'sk-the-real-one-0123456789abcdef';
let sandbox: Sandbox;

const environment: Record<string, string> = {};
const host = () => ({
  ...controlHost(db),
  catalogue: () => loadCatalogue(db.pool, { envSecret: (name) => environment[name], sealingKey }),
});
const give = (input: object) => ask(host(), setCredential, { actor, input });
const test = (provider = 'acme') => ask(host(), testProvider, { actor, input: { provider } });
const apply = (text: string) =>
  ask(host(), applyCatalogue, { actor, input: { files: [{ name: 'acme.yaml', text }] } });
const list = async () => (await ask(host(), listProviders, { actor, input: {} })).data;

const file = (address: string) => `
providers:
  - { id: acme, name: Acme, families: { chat: ${address}, messages: ${address} }, credential: { env: ACME_KEY } }
  - { id: bare, name: Bare, families: { chat: ${address} } }
models:
  - id: acme/dear
    name: Dear
    contextTokens: 1000
    maxOutputTokens: 100
    input: [text]
    output: [text]
    offers: [{ provider: acme, upstreamModel: fault/500, families: [chat], price: { input: "9", output: "9" } }]
  - id: acme/cheap
    name: Cheap
    contextTokens: 1000
    maxOutputTokens: 100
    input: [text]
    output: [text]
    offers: [{ provider: acme, upstreamModel: echo, families: [messages, chat], price: { input: "1", output: "4" } }]
`;

beforeAll(async () => {
  sandbox = await startSandbox({ key: secret });
  await apply(file(sandbox.url));
});
afterAll(() => sandbox.close());

/** All that a leaked secret could stand in. */
async function written(): Promise<string> {
  const { rows } = await db.pool.query(
    `SELECT (SELECT json_agg(a) FROM audit a)::text || (SELECT json_agg(p) FROM provider p)::text AS text`,
  );
  return rows[0].text;
}

describe('the credential of a provider (contract: control-plane/credentials)', () => {
  it('is missing until its variable is set or a value is given, and says what to do', async () => {
    expect((await list()).map(({ id, credentials: [one] }) => [id, one?.kind, one?.usable])).toEqual([
      ['acme', 'variable', false],
      ['bare', 'none', false],
    ]);
    expect((await list())[0]?.credentials[0]?.why).toContain('set ACME_KEY');
    expect(await refusalOf(test())).toContain('this provider has no credential');
    environment.ACME_KEY = 'from the environment';
    expect((await list())[0]?.credentials[0]).toMatchObject({ usable: true, why: null });
    delete environment.ACME_KEY;
  });

  it('is taken by value and told nowhere again: not in answers, nor the trail, nor the database', async () => {
    const answer = await give({ provider: 'acme', value: secret });
    expect(answer).toEqual({ provider: 'acme', name: 'default', credential: 'sealed' });
    expect(JSON.stringify(await list())).not.toContain(secret);
    expect(await written()).not.toContain(secret);
    const row = await db.prisma.audit.findFirstOrThrow({ where: { action: 'provider.set-credential' } });
    expect(row).toMatchObject({
      actor: 'test',
      subject: 'provider acme',
      address: '192.0.2.7',
      before: { credential: { env: 'ACME_KEY' } },
      after: { credential: 'sealed' },
    });
    expect((await list())[0]?.credentials[0]).toMatchObject({
      kind: 'sealed',
      variable: null,
      usable: true,
      why: null,
      tested: null,
    });
  });

  it('writes nothing when it is given again, and one row when another is', async () => {
    const trail = () => db.prisma.audit.count({ where: { action: 'provider.set-credential' } });
    const before = await trail();
    await give({ provider: 'acme', value: secret });
    expect(await trail()).toBe(before);
    await give({ provider: 'acme', value: `${secret}-2` });
    const row = await db.prisma.audit.findFirst({ orderBy: { id: 'desc' } });
    expect(row?.after).toEqual({ credential: 'replaced' });
    await give({ provider: 'acme', value: secret });
  });

  it('may be made of the parts that its cloud takes, and shows none of them (contract: families/cloud-credentials)', async () => {
    const cloud = (id: string, auth: string) =>
      `  - { id: ${id}, name: ${id}, families: { chat: ${sandbox.url} }, auth: ${auth} }\n`;
    await apply(
      `providers:\n${cloud('aws', '{ kind: aws-sigv4, region: eu-west-1 }')}${cloud('ms', '{ kind: entra-id }')}${cloud('gcp', '{ kind: google-service-account }')}`,
    );
    const keys = { accessKeyId: 'AKIATEST', secretAccessKey: 'aws-secret-0123456789' };
    await give({ provider: 'aws', ...keys });
    await give({ provider: 'ms', machine: true });
    const pem = '-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n';
    const account = { type: 'service_account', client_email: 'a@b', private_key: pem };
    await give({ provider: 'gcp', value: JSON.stringify(account, null, 2) });
    const { providers } = await host().catalogue();
    const made = ['aws', 'ms', 'gcp'].map((id) => providers.get(id)?.credentials[0]?.cloud?.key ?? null);
    expect(made).toEqual([keys, null, account]);
    expect(providers.get('ms')?.credentials[0]?.cloud).toEqual({ kind: 'entra-id', key: null });
    const shown = await list();
    expect(shown.filter(({ auth }) => auth !== null).map(({ id, auth }) => [id, auth])).toEqual([
      ['aws', 'aws-sigv4'],
      ['gcp', 'google-service-account'],
      ['ms', 'entra-id'],
    ]);
    for (const text of [JSON.stringify(shown), await written()]) {
      expect(text).not.toContain(keys.secretAccessKey);
      expect(text).not.toContain('PRIVATE KEY');
    }
    expect(await refusalOf(give({ provider: 'acme', ...keys }))).toContain('an API key only');
    expect(await refusalOf(give({ provider: 'ms', ...keys }))).toContain('do not take it');
    expect(await refusalOf(give({ provider: 'aws', value: '{"accessKeyId":"AK"}' }))).toContain(
      'secretAccessKey',
    );
    expect(await refusalOf(give({ provider: 'aws', value: 'k', machine: true }))).toContain('either');
  });

  it('is one value, one variable, or none, and no text that a header cannot carry', async () => {
    const wrong = [{}, { value: secret, env: 'A' }, { value: 'a\nb' }, { value: 'a b' }, { env: 'no name' }];
    for (const input of wrong) expect(await refusalOf(give({ provider: 'acme', ...input }))).not.toBe('');
    expect(await refusalOf(give({ provider: 'nobody', value: secret }))).toContain('there is no provider');
    expect(await give({ provider: 'bare', env: 'BARE_KEY' })).toMatchObject({ credential: 'variable' });
    expect(await give({ provider: 'bare', remove: true })).toMatchObject({ credential: 'none' });
  });
});

describe('a pool of credentials (contract: control-plane/credentials)', () => {
  const other = 'sk-the-second-one-0123456789abcdef';
  const pool = async () => (await list()).find(({ id }) => id === 'acme')?.credentials ?? [];
  const inForce = async () => (await host().catalogue()).providers.get('acme');

  it('takes another credential under a name, sealed for it alone, with its share and its models', async () => {
    const answer = await give({
      provider: 'acme',
      name: 'second',
      value: other,
      weight: 3,
      models: ['acme/cheap'],
    });
    expect(answer).toEqual({ provider: 'acme', name: 'second', credential: 'sealed' });
    expect(await pool()).toMatchObject([
      { name: 'default', weight: 1, priority: 1, models: null, spend: '0', state: 'untried' },
      { name: 'second', weight: 3, priority: 1, models: ['acme/cheap'], withdrawn: false, usable: true },
    ]);
    expect((await inForce())?.credentials.map(({ name, secret: held }) => [name, held])).toEqual([
      ['default', secret],
      ['second', other],
    ]);
    const row = await db.prisma.audit.findFirst({ orderBy: { id: 'desc' } });
    expect(row).toMatchObject({ after: { credential: 'sealed', weight: 3 }, detail: { name: 'second' } });
    const { rows } = await db.pool.query('SELECT json_agg(c)::text AS text FROM credential c');
    expect(rows[0].text + (await written()) + JSON.stringify(await list())).not.toContain(other);
    // Moved to another name, it does not open.
    await db.pool.query("UPDATE credential SET name = 'third' WHERE name = 'second'");
    expect((await pool())[1]).toMatchObject({ name: 'third', usable: false });
    await db.pool.query("UPDATE credential SET name = 'second' WHERE name = 'third'");
  });

  it('changes what is given and leaves the rest, also of the default one', async () => {
    await give({ provider: 'acme', name: 'second', priority: 2, models: null, rpm: 60 });
    expect((await inForce())?.credentials[1]?.limits?.stored).toEqual({
      rpm: 60,
      tpm: null,
      concurrency: null,
    });
    await give({ provider: 'acme', weight: 5 });
    expect(await pool()).toMatchObject([
      { name: 'default', weight: 5, priority: 1 },
      { name: 'second', weight: 3, priority: 2, models: null, rpm: 60, tpm: null, usable: true },
    ]);
    expect(await refusalOf(give({ provider: 'acme', name: 'new', weight: 2 }))).toContain(
      'does not exist yet',
    );
    expect(await refusalOf(give({ provider: 'acme', models: ['no/model'] }))).toContain('no "no/model"');
    for (const wrong of [{ name: 'A b' }, { weight: 0 }, { priority: 101 }])
      expect(await refusalOf(give({ provider: 'acme', value: other, ...wrong }))).not.toBe('');
  });

  it('withdraws one from new calls, and keeps it for what it made', async () => {
    await give({ provider: 'acme', name: 'second', withdrawn: true });
    const facts = await inForce();
    expect([facts?.credentials.map(({ name }) => name), facts?.withdrawn.map(({ name }) => name)]).toEqual([
      ['default'],
      ['second'],
    ]);
    expect(
      await ask(host(), testProvider, { actor, input: { provider: 'acme', name: 'second' } }),
    ).toMatchObject({
      name: 'second',
      outcome: { ok: false, status: 401 },
    });
    await give({ provider: 'acme', name: 'second', withdrawn: false });
    await give({ provider: 'acme', withdrawn: true });
    expect((await inForce())?.credentials.map(({ name }) => name)).toEqual(['second']);
    await give({ provider: 'acme', withdrawn: false });
    const removed = await give({ provider: 'acme', name: 'second', remove: true });
    expect(removed).toEqual({ provider: 'acme', name: 'second', credential: 'none' });
    expect(await db.prisma.credential.findMany({ where: { name: 'second' } })).toEqual([]);
    await db.prisma.credential.deleteMany();
  });
});

describe('the test of a provider (contract: control-plane/provider-test)', () => {
  it('is a real call to the cheapest offer, with its cost by the price in force', async () => {
    const { outcome, ...asked } = await test();
    expect(asked).toEqual({ provider: 'acme', model: 'acme/cheap', family: 'chat', name: 'default' });
    expect(outcome).toMatchObject({ ok: true, status: 200, message: null });
    const { input = 0, output = 0, cost } = outcome ?? {};
    expect(Number(input)).toBeGreaterThan(0);
    expect(cost).toBe(((Number(input) + 4 * Number(output)) / 1e6).toString());
    const row = await db.prisma.audit.findFirst({ orderBy: { id: 'desc' } });
    expect(row).toMatchObject({ action: 'provider.test', after: { model: 'acme/cheap', family: 'chat' } });
  });

  it('reads the catalogue in its own transaction, since a database may have only one session', async () => {
    const inside: boolean[] = [];
    const catalogue = (within?: Store) => {
      inside.push(within !== undefined);
      const sources = { envSecret: (name: string) => environment[name], sealingKey };
      return within
        ? readCatalogueWithin((text) => within.query(text, []), sources)
        : loadCatalogue(db.pool, sources);
    };
    const asked = { actor, input: { provider: 'acme' } };
    const { outcome } = await ask({ ...host(), catalogue }, testProvider, asked);
    expect(outcome).toMatchObject({ ok: true });
    expect(inside).toEqual([true, false]);
  });

  it('tells why it failed, and never the credential', async () => {
    const tested = async () => (await list())[0]?.credentials[0]?.tested;
    expect(await tested()).toEqual({ at: expect.any(String), failure: null });
    const wrong = 'sk-the-wrong-one-0123456789abcdef';
    await give({ provider: 'acme', value: wrong });
    // What is known of another credential says nothing about this one.
    expect(await tested()).toBeNull();
    const { outcome } = await test();
    expect((await tested())?.failure).toMatch(/^Answered 401: /);
    expect(outcome).toMatchObject({ ok: false, status: 401, cost: null });
    expect(outcome?.message).toBeTruthy();
    expect(JSON.stringify(outcome) + (await written())).not.toContain(wrong);
    await apply(file('http://127.0.0.1:1/v1').replace('{ env: ACME_KEY }', `{ value: ${wrong} }`));
    expect((await test()).outcome).toMatchObject({
      ok: false,
      status: null,
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('keeps the models of a provider whose credential failed out of examples, as long as another works', async () => {
    const example = async () => (await ask(host(), listModelNames, { actor, input: {} })).example;
    const other = `
providers:
  - { id: zest, name: Zest, families: { chat: ${sandbox.url} } }
models:
  - id: zest/echo
    name: Zest
    contextTokens: 1000
    maxOutputTokens: 100
    input: [text]
    output: [text]
    offers: [{ provider: zest, upstreamModel: echo, families: [chat], price: { input: "1", output: "4" } }]
`;
    await apply(file(sandbox.url));
    await give({ provider: 'acme', value: secret });
    await apply(other);
    await give({ provider: 'zest', value: secret });
    await test();
    expect(await example()).toBe('acme/cheap');
    await give({ provider: 'acme', value: 'sk-the-wrong-one-0123456789abcdef' });
    expect(await example()).toBe('acme/cheap');
    await test();
    expect(await example()).toBe('zest/echo');
    await give({ provider: 'zest', value: 'sk-the-wrong-one-0123456789abcdef' });
    await test('zest');
    expect(await example()).toBe('acme/cheap');
  });

  it('is not made where nothing of the provider can be called', async () => {
    await give({ provider: 'bare', value: secret });
    expect(await refusalOf(test('bare'))).toContain('no priced offer');
    expect(await refusalOf(test('nobody'))).toContain('there is no provider');
  });
});
