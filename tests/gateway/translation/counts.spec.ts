import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { closeBalanced, linesOf } from '#tests/support/books';
import { ask, bearer, codeOf, jsonOf } from '#tests/support/chat-call';
import { setPolicy } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

const json = { 'content-type': 'application/json' };

const counters = [
  {
    operation: 'messages.count_tokens',
    native: 'sandbox/only-messages',
    translated: 'sandbox/only-chat',
    field: 'input_tokens',
    path: () => '/v1/messages/count_tokens',
    body: (model: string, text: string) => ({ model, messages: [{ role: 'user', content: text }] }),
  },
  {
    operation: 'responses.input_tokens',
    native: 'sandbox/only-responses',
    translated: 'sandbox/only-messages',
    field: 'input_tokens',
    path: () => '/v1/responses/input_tokens',
    body: (model: string, text: string) => ({ model, input: text }),
  },
  {
    operation: 'content.count',
    native: 'sandbox/only-generate-content',
    translated: 'sandbox/only-responses',
    field: 'totalTokens',
    path: (model: string) => `/v1beta/models/${model}:countTokens`,
    body: (_model: string, text: string) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
  },
];

let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(async () => {
  await closeBalanced(stack);
});

describe.each(counters)('$operation (contract: translation/counting)', (counter) => {
  const { operation, native, translated, field } = counter;
  const count = (key: string, model: string, headers: Record<string, string> = {}, text = 'Hello there') =>
    ask(
      stack.url,
      'POST',
      counter.path(model),
      { ...json, ...bearer(key), ...headers },
      JSON.stringify(counter.body(model, text)),
    );
  /** Counting needs no money. */
  const keyWith = async (limits: object = {}) => {
    const { slug } = await stack.workspace({ credit: '0', rpm: null });
    return { slug, ...(await stack.key(slug, limits)) };
  };

  it('is estimated for a model that speaks another protocol, free and without a provider', async () => {
    const { key } = await keyWith({ rpm: 10, tpm: 1, concurrency: 1 });
    const answer = await count(key, translated);
    expect(answer.status, answer.body.toString()).toBe(200);
    expect(headerOf(answer, 'x-token-count')).toBe('estimated');
    const answered = jsonOf(answer);
    expect(Object.keys(answered).at(-1)).toBe(field);
    expect(answered[field]).toBeGreaterThan(5);
    expect(answered[field]).toBeLessThan(30);
    const id = headerOf(answer, 'x-request-id') ?? '';
    const free = { cost: '0', usageSource: 'none', lines: [], attempts: [] };
    expect(await stack.call(id)).toMatchObject({
      ...free,
      operation,
      status: 200,
      requestedModel: translated,
    });
    expect(await linesOf(stack, id)).toEqual([]);
    expect((await count(key, translated)).status, 'the slot is free').toBe(200);
  });

  it('is estimated for a body that is too long to be read', async () => {
    const { key } = await keyWith();
    const answered = jsonOf(await count(key, translated, {}, 'word '.repeat(60_000)));
    expect(answered[field]).toBeGreaterThan(75_000);
    expect(answered[field]).toBeLessThan(75_100);
  });

  it('counts against RPM when it is estimated', async () => {
    const { key } = await keyWith({ rpm: 1 });
    expect((await count(key, translated)).status).toBe(200);
    expect((await count(key, translated)).status).toBe(429);
  });

  it('is not estimated for a model that speaks the protocol', async () => {
    const { key } = await keyWith();
    const answer = await count(key, native);
    expect(answer.status, answer.body.toString()).toBe(200);
    expect(headerOf(answer, 'x-token-count')).toBeUndefined();
    const call = await stack.call(headerOf(answer, 'x-request-id') ?? '');
    expect(call.attempts).toHaveLength(1);
  });

  it('is not estimated where translation is turned off, by the client or by a policy', async () => {
    const { key, slug } = await keyWith();
    expect(codeOf(await count(key, translated, { 'x-translate': 'never' }))).toBe('model_not_allowed');
    await setPolicy(stack.db, { workspace: slug, model: translated, policy: { translate: 'never' } });
    await eventually(async () => codeOf(await count(key, translated)), 'model_not_allowed');
  });
});

describe('lists of models (contract: families/model-lists)', () => {
  const only = (model: string) => model.startsWith('sandbox/only-');
  const listed = async (key: string, path: string, headers: Record<string, string> = {}) => {
    const answer = jsonOf(await ask(stack.url, 'GET', path, { ...bearer(key), ...headers }));
    const entries = z.array(z.object({ id: z.string().optional(), name: z.string() }));
    const names = entries
      .parse(answer.data ?? answer.models)
      .map(({ id, name }) => id ?? name.replace('models/', ''));
    return names.filter(only).map((name) => name.replace('sandbox/only-', ''));
  };
  const lists = [
    ['of OpenAI', '/v1/models', {}, ['chat', 'responses']],
    ['of Anthropic', '/v1/models', { 'anthropic-version': '2023-06-01' }, ['messages']],
    ['of Google', '/v1beta/models', {}, ['generate-content']],
  ] as const;

  it.each(lists)('%s has the models that are called by translation', async (_of, path, headers) => {
    const { slug } = await stack.workspace({});
    const { key } = await stack.key(slug);
    expect(await listed(key, path, headers)).toEqual(['chat', 'generate-content', 'messages', 'responses']);
  });

  it.each(lists)('%s has none of them if the policy says never', async (_of, path, headers, own) => {
    const { slug } = await stack.workspace({});
    const { key } = await stack.key(slug);
    await setPolicy(stack.db, { workspace: slug, policy: { translate: 'never' } });
    await eventually(() => listed(key, path, headers), [...own]);
    await setPolicy(stack.db, {
      workspace: slug,
      model: 'sandbox/only-chat',
      policy: { translate: 'allow' },
    });
    await eventually(() => listed(key, path, headers), [...new Set(['chat', ...own])]);
  });

  it('the entry of a model that the client cannot call is 404', async () => {
    const { slug } = await stack.workspace({});
    const { key } = await stack.key(slug);
    const read = (headers: Record<string, string>) =>
      ask(stack.url, 'GET', '/v1/models/sandbox/only-messages', { ...bearer(key), ...headers });
    expect((await read({})).status).toBe(200);
    expect((await read({ 'x-translate': 'never' })).status).toBe(404);
  });
});
