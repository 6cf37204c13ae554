import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCalls } from '#lib/control/operations/call/operations';
import { deleteContent } from '#lib/control/operations/content/operations';
import { setPolicy } from '#lib/control/operations/policy/operations';
import { showUsage } from '#lib/control/operations/usage/operations';
import { deleteWorkspace } from '#lib/control/operations/workspace/delete';
import { formatUsd } from '#lib/core/money';
import { closeBalanced } from '#tests/support/books';
import { ask, bearer, codeOf, messageOf } from '#tests/support/chat-call';
import { operate, revokeKey, setKey } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf, requestText, talk, type Wire } from '#tests/support/wire';

const requests = {
  chat: (text: string, model: string, stream: boolean) => ({
    path: '/v1/chat/completions',
    body: { model, stream, messages: [{ role: 'user', content: text }] },
  }),
  responses: (text: string, model: string, stream: boolean) => ({
    path: '/v1/responses',
    body: { model, stream, input: text, store: false },
  }),
  messages: (text: string, model: string, stream: boolean) => ({
    path: '/v1/messages',
    body: { model, stream, max_tokens: 100, messages: [{ role: 'user', content: text }] },
  }),
  'generate-content': (text: string, model: string, stream: boolean) => ({
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text }] }] },
  }),
};
type Family = keyof typeof requests;
const families = Object.keys(requests) as Family[];
const unlimited = { rpm: 1_000_000, tpm: null, concurrency: null };

describe.each(['node', 'web'] as const)('answers that are given again over the %s lane', (lane) => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack(lane);
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  async function open(settings: Record<string, unknown> = { idempotency: true, cache: 'all' }) {
    const { id, slug } = await stack.workspace({ ...unlimited, ...settings });
    const { key, id: keyId } = await stack.key(slug);
    return { id, slug, key, keyId };
  }

  interface Sent {
    readonly family?: Family;
    readonly model?: string;
    readonly stream?: boolean;
    readonly text?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly more?: object;
  }
  function requestOf(
    key: string,
    { family = 'chat', model = 'sandbox/echo', stream = false, ...rest }: Sent,
  ) {
    const { path, body } = requests[family](rest.text ?? 'Say hello', model, stream);
    const headers = { ...bearer(key), 'content-type': 'application/json', ...rest.headers };
    return { path, headers, body: JSON.stringify({ ...body, ...rest.more }) };
  }
  function send(key: string, sent: Sent = {}): Promise<Wire> {
    const { path, headers, body } = requestOf(key, sent);
    return ask(stack.url, 'POST', path, headers, body);
  }
  const idOf = (answer: Wire) => headerOf(answer, 'x-request-id') ?? '';
  const asked = async (text: string) => (await stack.sandbox.seen(text)).length;
  const keyed = (token: string = randomUUID()) => ({ 'idempotency-key': token });
  const rowsOf = async (workspaceId: string) =>
    (
      await stack.db.pool.query('SELECT sealed FROM kept_answer WHERE workspace_id = $1', [workspaceId])
    ).rows.map(({ sealed }) => sealed as Buffer | null);
  const usageOf = async (slug: string) =>
    (await operate(stack.db, showUsage, { workspace: slug, by: 'model' })).total;

  const shapes = families.flatMap((family) =>
    families.flatMap((target) => [false, true].map((stream) => ({ family, target, stream }))),
  );
  it.each(shapes)(
    'are the same bytes with the same status: $family of a model that speaks $target, streamed: $stream (contract: repeats/same)',
    async ({ family, target, stream }) => {
      const { key } = await open();
      const text = `Say ${randomUUID()}`;
      const model = family === target ? 'sandbox/echo' : `sandbox/only-${target}`;
      const told = { family, model, stream, text };
      const first = await send(key, { ...told, headers: keyed('one') });
      expect(first.status, first.body.toString()).toBe(200);
      const again = await send(key, { ...told, headers: keyed('one') });
      const miss = await send(key, told);
      const hit = await send(key, told);
      expect(await asked(text)).toBe(2);
      expect([again.body.toString(), hit.body.toString()]).toEqual([
        first.body.toString(),
        miss.body.toString(),
      ]);
      const kept = [
        'content-type',
        'x-answered-model',
        'x-answered-provider',
        'x-translated',
        'x-upstream-request-id',
      ];
      for (const name of kept) expect(headerOf(again, name)).toBe(headerOf(first, name));
      expect(headerOf(first, 'idempotent-replayed')).toBeUndefined();
      expect(headerOf(again, 'idempotent-replayed')).toBe('true');
      expect([headerOf(miss, 'x-cache'), headerOf(hit, 'x-cache')]).toEqual(['miss', 'hit']);
      const ids = [first, again, miss, hit].map(idOf);
      expect(new Set(ids).size).toBe(4);
      const rows = [];
      for (const id of ids) rows.push(await stack.call(id));
      expect(rows.map(({ flags }) => flags)).toEqual([[], ['repeat'], [], ['cache_hit']]);
      expect(rows.map(({ cost }) => cost === '0')).toEqual([false, true, false, true]);
      expect(rows.map(({ attempts }) => attempts.length)).toEqual([1, 0, 1, 0]);
      expect(rows.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    },
  );

  it('need a workspace or key that wants them, and nothing is kept without (contract: repeats/settings)', async () => {
    const { id, key, slug, keyId } = await open({});
    const text = `Say ${randomUUID()}`;
    const headers = { ...keyed('one'), 'x-gateway-cache': '60' };
    for (let calls = 0; calls < 2; calls += 1) {
      const answer = await send(key, { text, headers });
      expect([headerOf(answer, 'x-cache'), headerOf(answer, 'idempotent-replayed')]).toEqual([
        undefined,
        undefined,
      ]);
    }
    expect(await asked(text)).toBe(2);
    expect(await rowsOf(id)).toEqual([]);
    await setKey(stack.db, { workspace: slug, id: keyId, cache: 'asked' });
    await eventually(async () => headerOf(await send(key, { text, headers }), 'x-cache'), 'hit');
    expect(headerOf(await send(key, { text }), 'x-cache')).toBeUndefined();
  });

  it('are one call for 100 requests at once (contract: repeats/running)', async () => {
    const { key, slug } = await open({ idempotency: true });
    const text = `Say ${randomUUID()} [[fault/slow-first-byte?ms=500000]]`;
    const sent = { text, headers: keyed('one') };
    const answers = Array.from({ length: 100 }, () => send(key, sent));
    await stack.sandbox.begun(text);
    await stack.sandbox.release(text);
    const bodies = new Set((await Promise.all(answers)).map(({ status, body }) => `${status} ${body}`));
    expect(bodies.size).toBe(1);
    expect([...bodies][0]).toMatch(/^200 /);
    expect(await asked(text)).toBe(1);
    for (const answer of answers) await stack.call(idOf(await answer));
    const { calls, repeated } = await usageOf(slug);
    expect({ calls, repeated }).toEqual({ calls: 1, repeated: 99 });
  });

  it('are refused if the key was used for another request, also while it runs (contract: repeats/idempotency)', async () => {
    const { key, slug } = await open();
    const token = keyed();
    const text = `Say ${randomUUID()} [[fault/slow-first-byte?ms=500000]]`;
    const first = send(key, { text, headers: token });
    await stack.sandbox.begun(text);
    const during = await send(key, { text: 'Say something else', headers: token });
    await stack.sandbox.release(text);
    expect((await first).status).toBe(200);
    const after = await send(key, { text: 'Say something else', headers: token });
    const elsewhere = await send(key, { family: 'messages', text, headers: token });
    for (const answer of [during, after, elsewhere]) {
      expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_body']);
      expect(messageOf(answer)).toContain('send a new one');
    }
    // Another API key of the workspace has its own.
    const other = await stack.key(slug);
    const own = await send(other.key, { text: 'Say something else', headers: token });
    expect([own.status, headerOf(own, 'idempotent-replayed')]).toEqual([200, undefined]);
    const bad = await send(key, { headers: keyed('a b') });
    expect([bad.status, codeOf(bad)]).toEqual([400, 'invalid_body']);
    const long = await send(key, { headers: { 'x-gateway-cache': '2592001' } });
    expect([long.status, codeOf(long)]).toEqual([400, 'invalid_body']);
  });

  it.each(['status-500', 'status-400', 'cut@2', 'error-event@2'])(
    'are not those that failed: %s (contract: repeats/kept)',
    async (fault) => {
      const { id, key } = await open();
      const stream = fault.includes('@');
      const text = `Say ${randomUUID()} [[fault/${fault}]]`;
      for (const headers of [keyed('one'), {}] as Record<string, string>[]) {
        await send(key, { text, stream, headers });
        const seen = await asked(text);
        const again = await send(key, { text, stream, headers });
        expect(headerOf(again, 'idempotent-replayed')).toBeUndefined();
        expect(headerOf(again, 'x-cache')).not.toBe('hit');
        expect(await asked(text)).toBeGreaterThan(seen);
      }
      expect(await rowsOf(id)).toEqual([]);
    },
  );

  it('are also those whose client left before the end (contract: repeats/left)', async () => {
    const { key } = await open();
    const text = `Say ${randomUUID()} [[pace/20/30]]`;
    const sent = { text, stream: true, headers: keyed('one') };
    const { path, headers, body } = requestOf(key, sent);
    await talk(stack.url, requestText('POST', path, headers, body), { during: async () => {} });
    const again = await send(key, sent);
    expect([again.status, headerOf(again, 'idempotent-replayed')]).toEqual([200, 'true']);
    expect(again.body.toString()).toContain('[DONE]');
    expect(await asked(text)).toBe(1);
  });

  it('are sealed in the database (contract: repeats/sealed)', async () => {
    const { id, key } = await open();
    const canary = `canary-${randomUUID()}`;
    const first = await send(key, { text: `Say ${canary}`, headers: keyed(`key-${canary}`) });
    await send(key, { text: `Say ${canary}` });
    expect(first.body.toString()).toContain(canary);
    const sealed = await rowsOf(id);
    expect(sealed).toHaveLength(2);
    for (const bytes of sealed) expect(bytes?.includes('canary')).toBe(false);
    const { rows } = await stack.db.pool.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    for (const { name } of rows) {
      const found = await stack.db.pool.query(`SELECT 1 FROM "${name}" t WHERE t::text LIKE $1 LIMIT 1`, [
        `%${canary}%`,
      ]);
      expect([name, found.rowCount]).toEqual([name, 0]);
    }
    expect(await stack.log()).not.toContain(canary);
  });

  it('belong to one workspace (contract: repeats/sealed)', async () => {
    const text = `Say ${randomUUID()}`;
    const [one, two] = [await open(), await open()];
    const headers = keyed('one');
    await send(one.key, { text, headers });
    await send(one.key, { text });
    const marks = [];
    for (const sent of [{ text, headers }, { text }]) {
      const answer = await send(two.key, sent);
      marks.push(headerOf(answer, 'idempotent-replayed') ?? headerOf(answer, 'x-cache'));
    }
    expect(marks).toEqual([undefined, 'miss']);
    // A row that was moved to another workspace cannot be opened.
    await stack.db.pool.query('DELETE FROM kept_answer WHERE workspace_id = $1', [two.id]);
    await stack.db.pool.query('UPDATE kept_answer SET workspace_id = $2 WHERE workspace_id = $1', [
      one.id,
      two.id,
    ]);
    expect(headerOf(await send(two.key, { text }), 'x-cache')).toBe('miss');
  });

  it('come from the cache only for the same request, key scope and model (contract: repeats/cacheable)', async () => {
    const { key, slug, keyId } = await open({ cache: 'all' });
    const text = `Say ${randomUUID()}`;
    const cacheOf = async (sent: Sent = {}, by = key) =>
      headerOf(await send(by, { text, ...sent }), 'x-cache');
    expect([await cacheOf(), await cacheOf()]).toEqual(['miss', 'hit']);
    expect(await cacheOf({ stream: true })).toBe('miss');
    expect(await cacheOf({ more: { temperature: 0 } })).toBe('miss');
    expect(await cacheOf({ headers: { 'openai-beta': 'x=1' } })).toBe('miss');
    expect(await cacheOf({ headers: { 'x-gateway-cache': 'off' } })).toBeUndefined();
    const scoped = await stack.key(slug, { models: ['sandbox/echo'] });
    expect(await cacheOf({}, scoped.key)).toBe('miss');
    const barred = await stack.key(slug, { models: ['sandbox/only-messages'] });
    const refused = await send(barred.key, { text });
    expect([refused.status, codeOf(refused)]).toEqual([400, 'model_not_allowed']);
    await setKey(stack.db, { workspace: slug, id: keyId, maxOutputTokens: 50 });
    await eventually(() => cacheOf({ more: { max_tokens: 51 } }), undefined);
    expect([await cacheOf(), await cacheOf()]).toEqual(['miss', 'hit']);
    // Responses that the provider stores have an id there.
    const stored = { family: 'responses', more: { store: true } } as const;
    expect([await cacheOf(stored), await cacheOf(stored)]).toEqual([undefined, undefined]);
  });

  it('come from the cache only while the route and the price that made them are in force (contract: repeats/route)', async () => {
    const { id, key, slug } = await open({ cache: 'all' });
    const text = `Say ${randomUUID()}`;
    const cacheOf = async () => headerOf(await send(key, { text }), 'x-cache');
    expect([await cacheOf(), await cacheOf()]).toEqual(['miss', 'hit']);
    // As after a new price: the version that the answer has is no longer the one in force.
    await operate(stack.db, setPolicy, { workspace: slug, policy: { ignore: ['sandbox'] } });
    await eventually(async () => (await send(key, { text })).status, 502);
    await operate(stack.db, setPolicy, { workspace: slug, policy: {} });
    await eventually(cacheOf, 'hit');
    expect((await rowsOf(id)).length).toBe(1);
  });

  it('are as old as the request allows at most (contract: repeats/cache)', async () => {
    const { id, key } = await open({ cache: 'asked' });
    const text = `Say ${randomUUID()}`;
    const cacheOf = async (seconds: number) =>
      headerOf(await send(key, { text, headers: { 'x-gateway-cache': String(seconds) } }), 'x-cache');
    const age = (seconds: number) =>
      stack.db.pool.query(
        `UPDATE kept_answer SET at = at - make_interval(secs => $2), keep_until = keep_until - make_interval(secs => $2)
         WHERE workspace_id = $1`,
        [id, seconds],
      );
    expect([await cacheOf(600), await cacheOf(600)]).toEqual(['miss', 'hit']);
    await age(120);
    expect([await cacheOf(600), await cacheOf(60), await cacheOf(60)]).toEqual(['hit', 'miss', 'hit']);
    await age(61);
    expect(await cacheOf(600)).toBe('miss');
  });

  it('count as requests, need no funds, and are counted separately (contract: repeats/limits, repeats/figures)', async () => {
    const { key, slug } = await open({ cache: 'all', idempotency: true, rpm: 7 });
    const text = `Say ${randomUUID()}`;
    const first = await send(key, { text, headers: keyed('one') });
    const ids = [idOf(first)];
    for (let calls = 0; calls < 4; calls += 1) ids.push(idOf(await send(key, { text })));
    ids.push(idOf(await send(key, { text, headers: keyed('one') })));
    const rows = [];
    for (const id of ids) rows.push(await stack.call(id));
    await stack.db.pool.query('UPDATE workspace SET balance_nano = balance_nano WHERE slug = $1', [slug]);
    const costs = rows.map(({ cost }) => cost);
    expect(costs.slice(2)).toEqual(['0', '0', '0', '0']);
    const usage = await usageOf(slug);
    expect(usage).toMatchObject({ calls: 2, repeated: 1, cacheHits: 3 });
    const nano = (usd: string | undefined) => BigInt(Math.round(Number(usd) * 1e9));
    expect(usage.cost).toBe(formatUsd(nano(costs[0]) + nano(costs[1])));
    expect(usage.saved).toBe(formatUsd(3n * nano(costs[1])));
    const found = async (repeated: string) =>
      (await operate(stack.db, listCalls, { workspace: slug, repeated })).data.map(({ id }) => id).sort();
    expect(await found('cache')).toEqual(ids.slice(2, 5).sort());
    expect(await found('repeat')).toEqual(ids.slice(5));
    expect(await found('none')).toEqual(ids.slice(0, 2).sort());
    expect((await send(key, { text })).status).toBe(200);
    const over = await send(key, { text });
    expect([over.status, codeOf(over)]).toEqual([429, 'workspace_rpm_exceeded']);
  });

  it('are deleted with a key, with the content and with the workspace (contract: repeats/deleted)', async () => {
    const { id, key, keyId, slug } = await open();
    const text = `Say ${randomUUID()}`;
    const fill = async (by = key) => {
      await send(by, { text, headers: keyed() });
      await send(by, { text });
    };
    await fill();
    await operate(stack.db, deleteContent, { workspace: slug });
    expect(await rowsOf(id)).toEqual([]);
    await fill();
    await revokeKey(stack.db, { id: keyId });
    expect(await rowsOf(id)).toEqual([]);
    await fill((await stack.key(slug)).key);
    expect(await rowsOf(id)).toHaveLength(2);
    await operate(stack.db, deleteWorkspace, { workspace: slug, confirm: slug });
    expect(await rowsOf(id)).toEqual([]);
  });
});
