import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import {
  createOwnKey,
  deleteOwnKey,
  listOwnKeys,
  setOwnKey,
} from '#lib/control/operations/own-key/operations';
import { ask } from '#lib/control/operations/run';
import { parseUsd } from '#lib/core/money';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { publish } from '#lib/platform/data/change';
import { newRowId } from '#lib/platform/data/row-id';
import { credentialContext, seal } from '#lib/platform/sealing';
import { refusalOf } from '#tests/gateway/control/accounts/people';
import { controlHost, listCalls } from '#tests/support/control/operate';
import { type OwnStack, secrets, startStack } from '#tests/support/stack';

const sealingKey = Buffer.from(secrets.ENCRYPTION_KEY, 'hex');
const actor = { kind: 'operator', name: 'test', address: null } as const;
/** What the provider answers to a key: a status, and 200 to all others that begin with "sk-good". */
const statuses = new Map<string, number>();
/** The keys that it was called by, in order, with the model that was asked for. */
const seen: { key: string; model: string; path: string }[] = [];

const provider = createServer((request, response) => {
  const key = String(request.headers.authorization ?? '').replace('Bearer ', '');
  let text = '';
  request.on('data', (chunk) => {
    text += chunk;
  });
  request.on('end', () => {
    const model = text === '' ? '' : String(JSON.parse(text).model);
    seen.push({ key, model, path: String(request.url) });
    const status = statuses.get(key) ?? (key.startsWith('sk-good') ? 200 : 401);
    const usage = { prompt_tokens: 1_001, completion_tokens: 77, total_tokens: 1_078 };
    const message = { role: 'assistant', content: 'Hello' };
    const answer =
      status === 200
        ? {
            id: 'c',
            object: 'chat.completion',
            model,
            choices: [{ index: 0, message, finish_reason: 'stop' }],
            usage,
          }
        : { error: { message: `no: ${key}`, code: 'refused' } };
    const stored = {
      id: `resp_${key}`,
      object: 'response',
      status: 'completed',
      model,
      output: [],
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    };
    const body = request.url?.includes('/responses') && status === 200 ? stored : answer;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
});

/** $1.000003 and $4.000007 a million tokens, so that fees are never whole. */
const price = { base: { input: '1000003000', output: '4000007000' }, tiers: [], serviceTiers: {} };
const listNano = (1_001n * 1_000_003_000n + 77n * 4_000_007_000n + 999_999n) / 1_000_000n;
const feeNano = (listNano * 725n + 9_999n) / 10_000n;

let stack: OwnStack;
const host = () => ({
  ...controlHost(stack.db, secrets.KEY_PEPPER),
  sealingKey,
  ownKeys: { allowed: true, addresses: false, feePoints: 725 },
  catalogue: () => loadCatalogue(stack.db.pool, { envSecret: () => undefined, sealingKey }),
  changed: () => stack.announce(),
});

async function addProvider(id: string, credential: string | null): Promise<void> {
  const { port } = provider.address() as AddressInfo;
  const address = `http://127.0.0.1:${port}/v1`;
  const sealed = credential && { sealed: seal(credential, sealingKey, credentialContext(id)) };
  await stack.db.prisma.provider.create({
    data: {
      id,
      name: id,
      families: { chat: address, responses: address },
      ...(sealed && { credential: sealed }),
    },
  });
  const model = { id: `${id}/model`, name: id, contextTokens: 100_000, maxOutputTokens: 1_000 };
  await stack.db.prisma.model.create({ data: { ...model, input: ['text'], output: ['text'] } });
  const offerId = newRowId();
  await stack.db.prisma.offer.create({
    data: {
      id: offerId,
      modelId: model.id,
      providerId: id,
      upstreamModel: 'm',
      families: ['chat', 'responses'],
    },
  });
  await stack.db.prisma.priceVersion.create({ data: { id: newRowId(), offerId, price } });
  await publish(stack.db.pool, [{ kind: 'catalogue', subject: '' }]);
  await stack.announce();
}

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  stack = await startStack({ env: { OWN_KEYS: 'on', OWN_KEY_FEE_PERCENT: '7.25' } });
});
afterAll(async () => {
  await stack.close();
  provider.closeAllConnections();
  provider.close();
});

interface Given {
  readonly provider: string;
  readonly value: string;
  readonly use?: 'first' | 'only' | 'last';
  readonly models?: string[];
  readonly name?: string;
}

const store = (workspace: string, { name = 'ours', ...input }: Given) =>
  ask(host(), createOwnKey, { actor, workspace, input: { name, ...input } });

async function caller(settings: object = {}) {
  const { id, slug } = await stack.workspace(settings);
  const { key } = await stack.key(slug);
  return { id, slug, key };
}

/** Changes of own keys are in force within two seconds. */
const known = () => stack.announce();

async function say(key: string, model: string, body: object = {}) {
  const response = await fetch(`${stack.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100, ...body }),
  });
  const text = await response.text();
  return { status: response.status, text, id: response.headers.get('x-request-id') ?? '' };
}

const keysOf = (provider: string) =>
  seen.filter(({ model }) => model === `m-${provider}` || model === 'm').map(({ key }) => key);

describe('own keys (contract: own-keys/an-own-key)', () => {
  it('are used first, cost the fee to the nano-dollar, and are marked', async () => {
    await addProvider('first', 'sk-good-operator');
    const { slug, key } = await caller();
    expect(await store(slug, { provider: 'first', value: 'sk-good-ours-first' })).toMatchObject({
      failure: null,
    });
    await known();
    seen.length = 0;
    const { status, id } = await say(key, 'first/model');
    expect(status).toBe(200);
    expect(keysOf('first')).toEqual(['sk-good-ours-first']);
    const call = await stack.call(id);
    expect(parseUsd(call.cost)).toBe(feeNano);
    expect(call.flags).toEqual(['own_key']);
    expect(call.lines.at(-1)).toMatchObject({ class: 'ownKeyFee', quantity: Number(listNano) });
    // The operator's credential answers when the own key is refused, at list price.
    statuses.set('sk-good-ours-first', 401);
    const fallen = await stack.call((await say(key, 'first/model')).id);
    expect(fallen.flags).toEqual(['own_key_fallback']);
    expect(parseUsd(fallen.cost)).toBe(listNano);
    expect(fallen.attempts).toHaveLength(2);
    // The log is filtered by whose credential answered.
    for (const [paidBy, call] of [
      ['own', id],
      ['operator', fallen.id],
    ]) {
      const { data } = await listCalls(stack.db, slug, { paidBy });
      expect(data.map((one) => one.id)).toEqual([call]);
    }
  });

  it('are the only ones if they are to be, however they fail', async () => {
    await addProvider('only', 'sk-good-operator');
    const { slug, key } = await caller();
    await store(slug, { provider: 'only', value: 'sk-good-ours-only', use: 'only' });
    await known();
    statuses.set('sk-good-ours-only', 429);
    seen.length = 0;
    const { status, id } = await say(key, 'only/model');
    expect(status).toBe(429);
    expect(keysOf('only')).toEqual(['sk-good-ours-only']);
    expect(parseUsd((await stack.call(id)).cost)).toBe(0n);
    // The operator's credential, and other workspaces, do not notice.
    const other = await caller();
    expect((await say(other.key, 'only/model')).status).toBe(200);
    expect(keysOf('only').at(-1)).toBe('sk-good-operator');
  });

  it('are tried last if they are to be', async () => {
    await addProvider('last', 'sk-good-operator-last');
    const { slug, key } = await caller();
    await store(slug, { provider: 'last', value: 'sk-good-ours-last', use: 'last' });
    await known();
    const first = await stack.call((await say(key, 'last/model')).id);
    expect(first.flags).toEqual([]);
    statuses.set('sk-good-operator-last', 402);
    const next = await stack.call((await say(key, 'last/model')).id);
    expect(next.flags).toEqual(['own_key']);
    expect(parseUsd(next.cost)).toBe(feeNano);
  });

  it('reach a provider for which the operator has no credential, for their workspace only', async () => {
    await addProvider('alone', null);
    const [mine, other] = [await caller(), await caller()];
    expect((await say(mine.key, 'alone/model')).status).toBe(502);
    await store(mine.slug, { provider: 'alone', value: 'sk-good-ours-alone' });
    await known();
    expect((await say(mine.key, 'alone/model')).status).toBe(200);
    expect((await say(other.key, 'alone/model')).status).toBe(502);
    const listed = async (key: string) => {
      const answer = await fetch(`${stack.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      return await answer.text();
    };
    expect(await listed(mine.key)).toContain('alone/model');
    expect(await listed(other.key)).not.toContain('alone/model');
  });

  it('need positive funds, and hold only the fee if funds do not cover the list price', async () => {
    await addProvider('funds', 'sk-good-operator');
    const [poor, empty] = [await caller({ credit: '0.0003' }), await caller({ credit: '0' })];
    for (const { slug } of [poor, empty])
      await store(slug, { provider: 'funds', value: 'sk-good-ours-funds' });
    await known();
    // A hold at list price would be more than 0.0004 dollars.
    const { id, status } = await say(poor.key, 'funds/model');
    expect(status).toBe(200);
    expect((await stack.call(id)).flags).toEqual(['own_key']);
    expect((await say(empty.key, 'funds/model')).status).toBe(402);
  });

  it('keep what they made: without the key it is not found', async () => {
    await addProvider('stored', 'sk-good-operator');
    const { slug, key } = await caller();
    const { id } = await store(slug, { provider: 'stored', value: 'sk-good-ours-stored' });
    await known();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const made = await fetch(`${stack.url}/v1/responses`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'stored/model', input: 'Hello' }),
    });
    expect(made.status).toBe(200);
    const at = `${stack.url}/v1/responses/resp_sk-good-ours-stored`;
    seen.length = 0;
    expect((await fetch(at, { headers })).status).toBe(200);
    expect(seen.map((one) => one.key)).toEqual(['sk-good-ours-stored']);
    await ask(host(), deleteOwnKey, { actor, workspace: slug, input: { id } });
    await known();
    const gone = await fetch(at, { headers });
    expect(gone.status).toBe(404);
    expect(await gone.text()).toContain('own key of the workspace that was deleted');
    expect(seen).toHaveLength(1);
  });

  it('cost the fee once if the gateway is killed before the charge is posted', async () => {
    await addProvider('killed', 'sk-good-operator');
    const { slug, key } = await caller();
    await store(slug, { provider: 'killed', value: 'sk-good-ours-killed', use: 'only' });
    await known();
    const { id } = await say(key, 'killed/model');
    await stack.kill('SIGKILL');
    await stack.start();
    const call = await stack.call(id);
    expect(call.flags).toEqual(['own_key']);
    expect(parseUsd(call.cost)).toBe(feeNano);
  });

  it('leave the books in order', async () => {
    const { checks } = await verifyLedger(stack.db);
    expect(checks.filter(({ rows }) => rows.length > 0)).toEqual([]);
    const { rows } = await stack.db.pool.query<{ list: string; cost: string }>(
      "SELECT sum(own_list_nano)::text AS list, sum(cost_nano)::text AS cost FROM usage_quarter WHERE provider = 'last'",
    );
    expect(rows).toEqual([{ list: `${listNano}`, cost: `${listNano + feeNano}` }]);
  });
});

describe('the test of an own key (contract: own-keys/an-own-key)', () => {
  it('keeps a key that fails out of use, and the one before it in use', async () => {
    await addProvider('tested', 'sk-good-operator');
    const { slug, key } = await caller();
    const made = await store(slug, { provider: 'tested', value: 'sk-wrong-0123456789' });
    expect(made.failure).toMatch(/^The provider answered 401: no: \*+$/);
    await known();
    expect((await stack.call((await say(key, 'tested/model')).id)).flags).toEqual([]);
    const input = { id: made.id, value: 'sk-good-ours-tested' };
    expect((await ask(host(), setOwnKey, { actor, workspace: slug, input })).failure).toBeNull();
    const worse = { id: made.id, value: 'sk-worse-0123456789' };
    expect((await ask(host(), setOwnKey, { actor, workspace: slug, input: worse })).failure).toContain('401');
    await known();
    expect((await stack.call((await say(key, 'tested/model')).id)).flags).toEqual(['own_key']);
    const listed = JSON.stringify(await ask(host(), listOwnKeys, { actor, workspace: slug, input: {} }));
    expect(listed).toContain('"state":"in use"');
    const { rows } = await stack.db.pool.query('SELECT * FROM own_key o, audit a');
    expect(`${listed}${JSON.stringify(rows)}`).not.toContain('sk-good-ours');
  });

  it('refuses a provider that accepts any key, and identities of clouds', async () => {
    await addProvider('open', 'sk-good-operator');
    const { slug } = await caller();
    const real = statuses.get.bind(statuses);
    statuses.get = () => 200;
    const { failure } = await store(slug, { provider: 'open', value: 'sk-anything-at-all' });
    statuses.get = real;
    expect(failure).toContain('accepts any key');
    await stack.db.prisma.provider.update({
      where: { id: 'open' },
      data: { auth: { kind: 'aws-sigv4', region: 'eu-central-1' } },
    });
    const asked = store(slug, { provider: 'open', value: 'default', name: 'identity' });
    expect(await refusalOf(asked)).toContain('API key');
  });
});
