import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogueYaml } from '#lib/control/catalogue/export';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { exportCatalogueOperation } from '#lib/control/operations/catalogue/export';
import type { Operation } from '#lib/control/operations/declare';
import { listPrices } from '#lib/control/operations/price/operations';
import { addProvider } from '#lib/control/operations/provider/add';
import { setCredential } from '#lib/control/operations/provider/credential';
import { discoverModels } from '#lib/control/operations/provider/discover';
import { listProviders } from '#lib/control/operations/provider/list';
import { offerModels } from '#lib/control/operations/provider/offer';
import { listPresets } from '#lib/control/operations/provider/presets';
import { setProvider, withdrawProvider } from '#lib/control/operations/provider/set';
import { showProvider } from '#lib/control/operations/provider/show';
import { testProvider } from '#lib/control/operations/provider/test';
import { ask, type OperationRequest, runAny } from '#lib/control/operations/run';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { createPools } from '#lib/gateway/upstream/pools';
import type { Db } from '#lib/platform/data/db';
import { refusalOf } from '#tests/gateway/control/accounts/people';
import { controlHost, sealingKey } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';
import { type Sandbox, startSandbox } from '#tools/sandbox/server';

const db = await openOwnDatabase();
/** Without a catalogue. */
const elsewhere = await openOwnDatabase();
const actor: OperationRequest['actor'] = { kind: 'operator', name: 'test', address: '192.0.2.7' };
const secret = 'sk-the-real-one-0123456789abcdef';
const pools = createPools();
let sandbox: Sandbox;
let free: Sandbox;

const hostOf = (at: Db) => ({
  ...controlHost(at),
  pools,
  catalogue: () => loadCatalogue(at.pool, { envSecret: () => undefined, sealingKey }),
});
const host = hostOf(db);
const add = (input: object) => ask(host, addProvider, { actor, input });
const discover = (provider: string) => ask(host, discoverModels, { actor, input: { provider } });
const offer = (provider: string, ...models: object[]) =>
  ask(host, offerModels, { actor, input: { provider, models } });
const set = (input: object) => ask(host, setProvider, { actor, input });
const withdraw = (input: object) => ask(host, withdrawProvider, { actor, input });
const show = (provider: string) => ask(host, showProvider, { actor, input: { provider } });
const apply = (text: string, at = host) =>
  ask(at, applyCatalogue, { actor, input: { files: [{ name: 'file.yaml', text }] } });
const exported = async (at = host) =>
  catalogueYaml(await ask(at, exportCatalogueOperation, { actor, input: {} }));
const newestRow = () => db.prisma.audit.findFirstOrThrow({ orderBy: { id: 'desc' } });

const shipped = (address: string) => `
providers:
  - { id: acme, name: Acme, families: { chat: ${address} }, credential: { env: ACME_KEY } }
models:
  - id: acme/large
    name: Acme Large
    aliases: [acme-large]
    contextTokens: 4000
    maxOutputTokens: 400
    input: [text, image]
    output: [text]
    abilities: { tools: true }
    offers: [{ provider: acme, upstreamModel: echo, families: [chat], abilities: { schemas: false }, operations: [chat.create], price: { input: "2", cachedInput: "0.2", output: "8" } }]
`;

beforeAll(async () => {
  sandbox = await startSandbox({ key: secret });
  free = await startSandbox();
  await apply(shipped(sandbox.url));
});
afterAll(async () => {
  await Promise.all([sandbox.close(), free.close(), pools.close()]);
});

describe('adding a provider (contract: control-plane/add-provider)', () => {
  it('takes address, protocols and name from a preset, and no credential where none is needed', async () => {
    expect(await add({ preset: 'ollama', url: free.url })).toEqual({
      provider: 'ollama',
      name: 'Ollama',
      families: { chat: free.url, completions: free.url, embeddings: free.url },
      credential: 'not needed',
    });
    expect(await newestRow()).toMatchObject({
      action: 'provider.add',
      subject: 'provider ollama',
      before: null,
      after: { preset: 'ollama', credential: 'not needed' },
    });
    const listed = (await ask(host, listProviders, { actor, input: {} })).data.find(
      ({ id }) => id === 'ollama',
    );
    expect(listed?.credentials).toMatchObject([{ kind: 'not needed', usable: true, why: null }]);
    expect(listed?.offers).toBe(0);
  });

  it('seals a credential, and tells it nowhere', async () => {
    const answer = await add({
      preset: 'openai-compatible',
      id: 'lab',
      name: 'Lab',
      url: sandbox.url,
      value: secret,
    });
    expect(answer).toMatchObject({ provider: 'lab', credential: 'sealed' });
    const { rows } = await db.pool.query(
      'SELECT (SELECT json_agg(a) FROM audit a)::text || (SELECT json_agg(p) FROM provider p)::text AS text',
    );
    expect(rows[0].text + JSON.stringify(answer)).not.toContain(secret);
  });

  it('says what is missing', async () => {
    expect(await refusalOf(add({ preset: 'groq' }))).toMatch(/^value: Groq needs a credential/);
    expect(await refusalOf(add({ preset: 'azure-openai', value: secret }))).toMatch(/^url: /);
    expect(await refusalOf(add({ preset: 'nothing' }))).toMatch(/^preset: must be one of openai/);
    expect(await refusalOf(add({ preset: 'vllm', url: 'localhost:8000' }))).toMatch(
      /^url: is not a usable address/,
    );
    expect(await refusalOf(add({ preset: 'vllm', url: 'http://u:p@localhost:8000' }))).toMatch(/^url: /);
    expect(await refusalOf(add({ preset: 'vllm', id: 'sandbox' }))).toMatch(/^id: /);
    expect(await refusalOf(add({ preset: 'groq', value: secret, env: 'A' }))).toMatch(/^env: /);
  });

  it('leads to the provider that exists, and adds a second one under another id', async () => {
    expect(await refusalOf(add({ preset: 'ollama', url: free.url }))).toContain(
      'there is already a provider "ollama": set its credential',
    );
    expect(await refusalOf(add({ preset: 'vllm', id: 'acme', url: free.url }))).toContain(
      'choose another id',
    );
    const { data } = await ask(host, listPresets, { actor, input: {} });
    expect(data.find(({ id }) => id === 'ollama')?.provider).toBe('ollama');
    expect(data.find(({ id }) => id === 'vllm')?.provider).toBeNull();
  });

  it('lets one of two operators who add the same provider at once have it', async () => {
    const both = await Promise.allSettled([
      add({ preset: 'vllm', id: 'race', url: free.url }),
      add({ preset: 'lm-studio', id: 'race', url: free.url }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await db.prisma.provider.count({ where: { id: 'race' } })).toBe(1);
    expect(await db.prisma.audit.count({ where: { subject: 'provider race' } })).toBe(1);
  });

  it('adds nothing if the transaction does not commit', async () => {
    await db.pool.query(
      `CREATE FUNCTION refuse_audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF NEW.subject = 'provider torn' THEN RAISE EXCEPTION 'killed'; END IF; RETURN NEW; END $$`,
    );
    await db.pool.query(
      'CREATE TRIGGER refuse_audit BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION refuse_audit()',
    );
    await expect(add({ preset: 'vllm', id: 'torn', url: free.url })).rejects.toThrow();
    expect(await db.prisma.provider.count({ where: { id: 'torn' } })).toBe(0);
    await db.pool.query('DROP TRIGGER refuse_audit ON audit');
    expect(await add({ preset: 'vllm', id: 'torn', url: free.url })).toMatchObject({ provider: 'torn' });
  });
});

describe('discovery (contract: control-plane/discover-models)', () => {
  it('reads the list, and knows what the catalogue knows', async () => {
    const found = await discover('lab');
    expect(found).toMatchObject({
      provider: 'lab',
      url: `${sandbox.url}/models`,
      more: false,
      failure: null,
    });
    expect(found.data.find(({ upstreamModel }) => upstreamModel === 'echo')).toEqual({
      upstreamModel: 'echo',
      slug: 'acme/large',
      offered: false,
      known: true,
      name: 'Acme Large',
      kind: 'text',
      abilities: {},
      families: ['chat'],
      contextTokens: 4000,
      maxOutputTokens: 400,
      input: ['text', 'image'],
      price: { input: '2', cachedInput: '0.2', output: '8' },
      priceOf: 'acme',
    });
    expect(found.data.find(({ upstreamModel }) => upstreamModel === 'mini')).toMatchObject({
      slug: 'lab/mini',
      known: false,
      price: null,
      contextTokens: null,
    });
    expect(await newestRow()).toMatchObject({ action: 'provider.discover', subject: 'provider lab' });
  });

  it('says why it cannot, and never the credential', async () => {
    const wrong = 'sk-the-wrong-one-0123456789abcdef';
    await ask(host, setCredential, { actor, input: { provider: 'lab', value: wrong } });
    const { failure } = await discover('lab');
    expect(failure).toMatch(/^the provider refused the credential \(401\)/);
    expect(failure).not.toContain(wrong);
    await ask(host, setCredential, { actor, input: { provider: 'lab', value: secret } });
    expect((await discover('acme')).failure).toContain('has no credential');
    await ask(host, setCredential, { actor, input: { provider: 'lab', notNeeded: true } });
    expect((await discover('lab')).failure).toContain('asks for a credential (401)');
    await ask(host, setCredential, { actor, input: { provider: 'lab', value: secret } });
    expect(await refusalOf(discover('nobody'))).toContain('there is no provider');
  });
});

describe('a stranger’s server', () => {
  let server: Server;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let asked: IncomingMessage[] = [];
  const key = 'sk-only-for-the-provider-0123456789';
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(request);
      answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/v1`;
    await add({ preset: 'openai-compatible', id: 'strange', url, value: key });
    await add({ preset: 'anthropic-compatible', id: 'strange-a', url, value: key });
    await add({ preset: 'google-compatible', id: 'strange-g', url, value: key });
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const answering = async (body: string | Buffer, status = 200, headers = {}, provider = 'strange') => {
    asked = [];
    answer = (_, response) => response.writeHead(status, headers).end(body);
    return discover(provider);
  };

  it.each([
    ['a page', '<!doctype html><title>Router</title>', 200, 'web page'],
    ['other JSON', '{"hello": 1}', 200, 'not with a list of models'],
    ['no JSON', '\u0000\u0001', 200, 'not with a list of models'],
    ['nothing', '', 200, 'not with a list of models'],
    ['an error', '{"error": {"message": "on fire"}}', 500, 'answered 500: on fire'],
    ['404', '{"error": "no"}', 404, 'there is no list of models'],
    ['429', '{}', 429, 'no more requests now'],
    ['an echo of the credential', `{"error": {"message": "bad key ${key}"}}`, 401, 'bad key ****'],
  ])('that answers with %s is described', async (_, body, status, words) => {
    const { failure, data } = await answering(body, status);
    expect(failure).toContain(words);
    expect(failure).not.toContain(key);
    expect(data).toEqual([]);
  });

  it.each([
    [
      'amazon-bedrock',
      '/v1',
      '/v1/foundation-models',
      2,
      'enter the ids of models or inference profiles yourself',
    ],
    ['azure-openai', '/v1', '/v1/models', 1, 'enter the names of your deployments yourself'],
    [
      'vertex-ai',
      '/v1/projects/p/locations/l',
      '/v1beta1/publishers/google/models',
      10,
      'enter the names of models yourself, as Model Garden',
    ],
  ])(
    'of the cloud %s that has no list says where its names are shown',
    async (preset, path, at, lists, words) => {
      const { port } = server.address() as AddressInfo;
      await add({ preset, id: `strange-${preset}`, url: `http://127.0.0.1:${port}${path}`, value: key });
      const { failure, data } = await answering('{"error": "no"}', 404, {}, `strange-${preset}`);
      expect(failure).toContain(`there is no list of models at http://127.0.0.1:${port}${at}`);
      expect(failure).toContain(words);
      expect(data).toEqual([]);
      expect(asked).toHaveLength(lists);
    },
  );

  it('of a cloud has the limits of any other, and cannot spoil its other lists', async () => {
    // Pages that never end, each with a new model.
    let page = 0;
    asked = [];
    answer = ({ url = '' }, response) => {
      page += 1;
      const row = { inferenceProfileId: `eu.anthropic.claude-${page}`, type: 'SYSTEM_DEFINED' };
      response.end(
        JSON.stringify(
          url.startsWith('/v1/foundation-models')
            ? { modelSummaries: [{ modelId: 'a.b' }, { modelId: 7 }, null] }
            : {
                inferenceProfileSummaries: [row, null, { inferenceProfileId: 'x\u0007' }],
                nextToken: 'same',
              },
        ),
      );
    };
    const endless = await discover('strange-amazon-bedrock');
    expect(endless).toMatchObject({ failure: null, more: true });
    expect(endless.data).toHaveLength(21);
    expect(asked).toHaveLength(21);

    // One list is too large, of another form, or cut off: the other one is read, and the note says why.
    for (const [body, words] of [
      ['x'.repeat(9 * 1024 * 1024), 'larger than 8 MiB'],
      ['{"modelSummaries": 7}', 'not with a list of models'],
      ['<html>', 'web page'],
    ] as const) {
      answer = ({ url = '' }, response) => {
        response.end(
          url.startsWith('/v1/foundation-models') ? '{"modelSummaries": [{"modelId": "a.b"}]}' : body,
        );
      };
      const partly = await discover('strange-amazon-bedrock');
      expect(partly.data.map(({ upstreamModel }) => upstreamModel)).toEqual(['a.b']);
      expect(partly.note).toContain('Not read: inference profiles (');
      expect(partly.note).toContain(words);
      expect(partly.note).not.toContain(key);
    }

    // One list never answers.
    answer = ({ url = '' }, response) => {
      if (url.startsWith('/v1/foundation-models')) response.end('{"modelSummaries": [{"modelId": "a.b"}]}');
    };
    const waited = await discover('strange-amazon-bedrock');
    expect(waited).toMatchObject({ failure: null, data: [{ upstreamModel: 'a.b' }] });
    expect(waited.note).toContain('did not answer within 6 s');

    // A key that is not accepted is not tried at every list.
    asked = [];
    answer = (_, response) =>
      response.writeHead(401).end(`{"error": {"message": "API key ${key} is wrong"}}`);
    const { failure } = await discover('strange-vertex-ai');
    expect(failure).toContain('Google shows this list to identities, not to API keys');
    expect(failure).not.toContain(key);
    expect(asked).toHaveLength(1);
  });

  it('is not followed elsewhere', async () => {
    const { failure } = await answering('', 302, { location: `https://evil.example/v2/models?key=${key}` });
    expect(failure).toContain('redirects to https://evil.example/v2; use that address');
    expect(failure).not.toContain(key);
    expect(asked).toHaveLength(1);
  });

  it('cannot send more than 8 MiB, packed or not', async () => {
    const large = JSON.stringify({ data: [{ id: 'x'.repeat(9 * 1024 * 1024) }] });
    expect((await answering(large)).failure).toContain('larger than 8 MiB');
    expect((await answering(gzipSync(large), 200, { 'content-encoding': 'gzip' })).failure).toContain(
      'larger than 8 MiB',
    );
    const packed = gzipSync(JSON.stringify({ data: [{ id: 'packed' }] }));
    expect((await answering(packed, 200, { 'content-encoding': 'gzip' })).data).toMatchObject([
      { upstreamModel: 'packed' },
    ]);
  });

  it('that lists thousands of models, many of them twice, is read up to 5,000', async () => {
    const ids = Array.from({ length: 9_000 }, (_, at) => ({ id: `m-${at % 6_000}` }));
    const found = await answering(JSON.stringify({ data: [...ids, { id: 'bad\u0007name' }, 7, null] }));
    expect(found).toMatchObject({ failure: null, more: true });
    expect(found.data).toHaveLength(5_000);
    expect(new Set(found.data.map(({ slug }) => slug)).size).toBe(5_000);
  });

  it('is asked page by page, and not for ever', async () => {
    let page = 0;
    asked = [];
    answer = (_, response) => {
      page += 1;
      response.end(JSON.stringify({ data: [{ id: `c-${page}` }], has_more: true, last_id: `c-${page}` }));
    };
    const found = await discover('strange-a');
    expect(found).toMatchObject({ failure: null, more: true });
    expect(asked).toHaveLength(20);
    expect(asked[1]?.url).toBe('/v1/models?limit=1000&after_id=c-1');
    expect(asked[0]?.headers).toMatchObject({ 'x-api-key': key, 'anthropic-version': '2023-06-01' });
    answer = (_, response) => response.end(JSON.stringify({ models: [{ name: 'models/g' }] }));
    asked = [];
    expect((await discover('strange-g')).data).toMatchObject([
      { upstreamModel: 'g', families: ['generate-content'] },
    ]);
    expect(asked[0]?.headers['x-goog-api-key']).toBe(key);
    expect(asked[0]?.url).toBe('/v1/models?pageSize=1000');
  });

  it('that ends the connection, or is not there, is described', async () => {
    answer = (request) => request.socket.destroy();
    expect((await discover('strange')).failure).toContain('closed the connection');
    await set({ provider: 'strange', url: 'http://127.0.0.1:1/v1' });
    expect((await discover('strange')).failure).toContain('nothing listens at 127.0.0.1:1');
  });
});

describe('offering models (contract: control-plane/offer-models)', () => {
  const prices = async (model: string) =>
    (await ask(host, listPrices, { actor, input: { model, provider: 'ollama' } })).data.map(
      ({ text }) => text,
    );

  it('adds new models with a price or free of charge, and a real call works', async () => {
    const done = await offer(
      'ollama',
      {
        upstreamModel: 'echo',
        slug: 'local/echo',
        price: { input: '0.5', output: '1.5' },
        abilities: { tools: true, images: false },
      },
      { upstreamModel: 'mini', free: true, contextTokens: 4096, maxOutputTokens: 256, name: 'Mini' },
      { upstreamModel: 'text-embed', free: true },
    );
    expect(done.models).toEqual(['local/echo', 'ollama/mini', 'ollama/text-embed']);
    const catalogue = await host.catalogue();
    expect(catalogue.models.get('local/echo')).toMatchObject({
      contextTokens: 131_072,
      maxOutputTokens: 8_192,
      offers: [{ abilities: { tools: true, images: false }, lacks: ['images'] }],
    });
    expect(catalogue.models.get('ollama/mini')).toMatchObject({ name: 'Mini', contextTokens: 4096 });
    expect(catalogue.models.get('ollama/text-embed')).toMatchObject({ output: ['embedding'] });
    const { outcome, model } = await ask(host, testProvider, { actor, input: { provider: 'ollama' } });
    expect(outcome).toMatchObject({ ok: true, status: 200, cost: '0' });
    expect(model).toBe('ollama/mini');
    expect(await newestRow()).toMatchObject({ action: 'provider.test' });
  });

  it('needs a price for each new model, or "free" (and not both)', async () => {
    expect(await refusalOf(offer('ollama', { upstreamModel: 'film' }))).toMatch(
      /^models.0.price: "film" needs a price/,
    );
    expect(await refusalOf(offer('ollama', { upstreamModel: 'film', price: {} }))).toContain('needs a price');
    const both = { upstreamModel: 'film', free: true, price: { input: '1' } };
    expect(await refusalOf(offer('ollama', both))).toMatch(/^models.0.free: /);
    expect(await refusalOf(offer('ollama', { upstreamModel: 'film', price: { input: '-1' } }))).toContain(
      'price',
    );
    expect(await refusalOf(offer('ollama', { upstreamModel: 'whisper-1', free: true }))).toMatch(
      /^models.0.families: /,
    );
    const spoken = { upstreamModel: 'film', free: true, families: ['messages'] };
    expect(await refusalOf(offer('ollama', spoken))).toContain('has no address for messages');
    expect(await refusalOf(offer('ollama', { upstreamModel: 'film', free: true, slug: '../etc' }))).toMatch(
      /^models.0.slug: is not a model id/,
    );
  });

  it('offers all models of a request or none', async () => {
    const before = await db.prisma.model.count();
    await expect(
      offer('ollama', { upstreamModel: 'film', free: true }, { upstreamModel: 'print' }),
    ).rejects.toThrow('models.1.price');
    const twice = [
      { upstreamModel: 'film', free: true, slug: 'local/same' },
      { upstreamModel: 'print', free: true, slug: 'local/same' },
    ];
    expect(await refusalOf(offer('ollama', ...twice))).toMatch(
      /^models.1.slug: "local\/same" is in the list twice/,
    );
    expect(await db.prisma.model.count()).toBe(before);
  });

  it('joins a model of the catalogue, last in order, and changes none of its facts', async () => {
    await offer('lab', { upstreamModel: 'echo', slug: 'acme/large', price: { input: '1', output: '4' } });
    const offers = (await host.catalogue()).models.get('acme/large')?.offers ?? [];
    expect(offers.map(({ provider }) => provider.id)).toEqual(['acme', 'lab']);
    const other = { upstreamModel: 'echo', slug: 'acme/large', contextTokens: 9 };
    expect(await refusalOf(offer('lab', other))).toMatch(
      /^models.0.contextTokens: "acme\/large" is also offered by acme/,
    );
    const alias = { upstreamModel: 'mini', slug: 'acme-large', free: true };
    expect(await refusalOf(offer('lab', alias))).toMatch(
      /^models.0.slug: "acme-large" is another name of acme\/large/,
    );
  });

  it('changes what is given, and a price is a new version', async () => {
    expect((await offer('ollama', { upstreamModel: 'echo' })).changes).toEqual([]);
    await offer('ollama', { upstreamModel: 'echo', price: { input: '0.7', output: '1.5' } });
    expect(await prices('local/echo')).toEqual(['$0.7 in, $1.5 out', '$0.5 in, $1.5 out']);
    await offer('ollama', { upstreamModel: 'echo', name: 'Echo at home', contextTokens: 1_000 });
    expect(await newestRow()).toMatchObject({
      action: 'provider.offer',
      before: { 'model local/echo': { name: 'echo', contextTokens: 131_072 } },
      after: { 'model local/echo': { name: 'Echo at home', contextTokens: 1_000 } },
    });
    expect(await prices('local/echo')).toHaveLength(2);
  });

  it('makes one version of a price that two operators set at once', async () => {
    const price = { input: '0.9', output: '1.5' };
    await Promise.all([1, 2].map(() => offer('ollama', { upstreamModel: 'echo', price })));
    expect(await prices('local/echo')).toEqual([
      '$0.9 in, $1.5 out',
      '$0.7 in, $1.5 out',
      '$0.5 in, $1.5 out',
    ]);
  });
});

describe('changing and withdrawing a provider', () => {
  it('moves its protocols to another address, and refuses a stale tag', async () => {
    const { addresses } = await show('ollama');
    expect(addresses).toMatchObject({ chat: free.url });
    await set({ provider: 'ollama', url: 'http://10.0.0.5:11434/v1/', name: 'Ollama in the lab' });
    expect(await show('ollama')).toMatchObject({
      name: 'Ollama in the lab',
      addresses: { chat: 'http://10.0.0.5:11434/v1', embeddings: 'http://10.0.0.5:11434/v1' },
    });
    expect(await newestRow()).toMatchObject({ action: 'provider.set', before: { name: 'Ollama' } });
    await set({ provider: 'ollama', url: free.url });
    const asked = { actor, workspace: undefined, input: { provider: 'ollama' } };
    const { etag } = await runAny(host, showProvider as Operation, asked);
    const fresh = { actor, input: { provider: 'ollama', name: 'Ollama at home' }, ifMatch: etag ?? '' };
    expect(await ask(host, setProvider, fresh)).toMatchObject({ name: 'Ollama at home' });
    const stale = ask(host, setProvider, {
      actor,
      input: { provider: 'ollama', name: 'X' },
      ifMatch: '"old"',
    });
    expect(await refusalOf(stale)).toContain('was changed since you read it');
  });

  it('withdraws a model or all, and offers them again with their price', async () => {
    expect(await refusalOf(withdraw({ provider: 'ollama', models: ['acme/large'] }))).toContain(
      'does not offer',
    );
    expect(await withdraw({ provider: 'ollama', models: ['ollama/mini'] })).toEqual({
      provider: 'ollama',
      withdrawn: ['ollama/mini'],
    });
    expect((await withdraw({ provider: 'ollama' })).withdrawn).toEqual(['local/echo', 'ollama/text-embed']);
    expect((await withdraw({ provider: 'ollama' })).withdrawn).toEqual([]);
    expect((await show('ollama')).models.map(({ withdrawn }) => withdrawn)).toEqual([true, true, true]);
    await offer(
      'ollama',
      { upstreamModel: 'echo', slug: 'local/echo' },
      { upstreamModel: 'mini', slug: 'ollama/mini' },
    );
    expect((await show('ollama')).models.map(({ model, price }) => [model, price])).toEqual([
      ['local/echo', '$0.9 in, $1.5 out'],
      ['ollama/mini', '$0 in, $0 out'],
      ['ollama/text-embed', '$0 in, $0 out'],
    ]);
  });
});

describe('the shipped catalogue and what was added (contract: operations/catalogue-apply)', () => {
  it('leaves it, and a credential that an operator has stored', async () => {
    await ask(host, setCredential, { actor, input: { provider: 'acme', value: secret } });
    const before = await exported();
    const { changes, leftOut } = await apply(shipped(sandbox.url));
    expect(changes).toEqual([]);
    expect(leftOut).toEqual([]);
    expect(await exported()).toBe(before);
    expect((await host.catalogue()).providers.get('acme')?.credentials[0]?.secret).toBe(secret);
    const { changes: others } = await apply(
      shipped(sandbox.url).replace('{ env: ACME_KEY }', '{ value: sk-by-file }'),
    );
    expect(others).toEqual(['~ provider acme: credential']);
  });

  it('is exported as a file that gives the same catalogue elsewhere, without a secret', async () => {
    const file = await exported();
    expect(file).not.toMatch(/sk-|sealed/);
    expect(file).toContain('credential: none');
    for (const said of ['tools: true', 'schemas: false', '- chat.create']) expect(file).toContain(said);
    const empty = hostOf(elsewhere);
    await apply(file, empty);
    expect(await exported(empty)).toBe(file);
    expect((await apply(file, empty)).changes).toEqual([]);
    // Applied where it comes from, it changes nothing: credentials stay.
    expect((await apply(file)).changes).toEqual([]);
  });
});
