import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askContent, type Shape } from '#tests/gateway/content/call';
import { callsOf, closeBalanced, linesOf } from '#tests/support/books';
import { ask, codeOf, jsonOf, receivedOf, seenOf } from '#tests/support/chat-call';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';

describe('a request of the generate-content family', () => {
  let stack: Stack;
  let workspace: { id: string; slug: string };
  let key: string;
  beforeAll(async () => {
    stack = await joinStack();
    workspace = await stack.workspace({ rpm: 10_000 });
    key = (await stack.key(workspace.slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  it.each([
    '/v1/models/sandbox/echo:generateContent',
    '/v1beta/models/sandbox/echo:generateContent',
    '/v1alpha/models/sandbox/echo:generateContent',
    '/v1beta/models/sandbox%2Fecho%3AgenerateContent',
  ])('finds its model in the path: %s', async (target) => {
    const asked = await askContent(stack.url, key, 'whole', {}, { target });
    expect(asked.answer.status).toBe(200);
    expect((await seenOf(stack, asked)).path).toBe('/models/echo:generateContent');
    expect(await stack.call(asked.id)).toMatchObject({ requestedModel: 'sandbox/echo' });
  });

  it('takes ?key= as its credential, and sends neither it nor any other one of the client on', async () => {
    const target = `/v1beta/models/sandbox/echo:streamGenerateContent?alt=sse&key=${key}&x=%20y`;
    const headers = { 'x-goog-api-key': key, authorization: `Bearer ${key}`, 'x-goog-user-project': 'p' };
    const asked = await askContent(stack.url, key, 'sse', {}, { target, headers });
    expect(asked.answer.status).toBe(200);
    const seen = await seenOf(stack, asked);
    expect(seen.query).toBe('alt=sse');
    expect(Object.keys(seen.headers)).toContain('x-goog-api-key');
    expect(Object.keys(seen.headers)).not.toContain('authorization');
    expect(Object.keys(seen.headers)).not.toContain('x-goog-user-project');
    const alone = await ask(stack.url, 'POST', target, {}, '{"contents":[{"parts":[{"text":"hi"}]}]}');
    expect(alone.status).toBe(200);
  });

  it('cannot hide its usage behind a field mask', async () => {
    const target = '/v1beta/models/sandbox/echo:generateContent?fields=candidates&$fields=candidates';
    const asked = await askContent(stack.url, key, 'whole', {}, { target });
    expect((await seenOf(stack, asked)).query).toBe('');
    expect(await stack.call(asked.id)).toMatchObject({ usageSource: 'reported' });
  });

  it.each([
    [{}, { generationConfig: { maxOutputTokens: 9 } }],
    [{ generation_config: { top_k: 3 } }, { generation_config: { top_k: 3, max_output_tokens: 9 } }],
    [{ generationConfig: { maxOutputTokens: null } }, { generationConfig: { maxOutputTokens: 9 } }],
    [{ generationConfig: { maxOutputTokens: 4 } }, { generationConfig: { maxOutputTokens: 4 } }],
  ])('carries its key’s budget where it names none: %j', async (fields, expected) => {
    const tight = await stack.key(workspace.slug, { maxOutputTokens: 9 });
    for (const shape of ['whole', 'array'] satisfies Shape[]) {
      const asked = await askContent(stack.url, tight.key, shape, { directive: 'echo?tokens=50', ...fields });
      const { contents: _contents, ...rest } = await receivedOf(stack, asked);
      expect(rest).toEqual(expected);
      expect((await stack.call(asked.id)).usage.output).toBeLessThanOrEqual(9);
    }
  });

  it.each([
    [{ generationConfig: { maxOutputTokens: 10 } }, 'max_output_tokens_exceeded'],
    [{ generation_config: { max_output_tokens: 10 } }, 'max_output_tokens_exceeded'],
    [{ generationConfig: { maxOutputTokens: 1 }, generation_config: {} }, 'invalid_body'],
    [{ generationConfig: { maxOutputTokens: '1' } }, 'invalid_body'],
  ])('is refused for its budget: %j', async (fields, code) => {
    const tight = await stack.key(workspace.slug, { maxOutputTokens: 9 });
    const asked = await askContent(stack.url, tight.key, 'whole', fields);
    expect([asked.answer.status, codeOf(asked.answer)]).toEqual([400, code]);
    expect(Object.keys(record(jsonOf(asked.answer).error)).sort()).toEqual(['code', 'message']);
  });

  it('is refused for a model that is not there, out of scope or, untranslated, of another family', async () => {
    const headers = { 'x-translate': 'never' };
    const scoped = await stack.key(workspace.slug, { models: ['sandbox/mini'] });
    for (const [secret, model] of [
      [key, 'sandbox/none'],
      [scoped.key, 'sandbox/echo'],
      [key, 'test/drained'],
    ] as const) {
      const { answer } = await askContent(stack.url, secret, 'sse', { model }, { headers });
      expect([answer.status, codeOf(answer)]).toEqual([400, 'model_not_allowed']);
    }
  });

  it.each(['GET', 'DELETE'])('is a POST: %s is refused with what is allowed', async (method) => {
    const answer = await ask(stack.url, method, '/v1beta/models/sandbox/echo:streamGenerateContent');
    expect([answer.status, codeOf(answer), headerOf(answer, 'allow')]).toEqual([
      405,
      'method_not_allowed',
      'POST',
    ]);
  });

  it('that only counts costs nothing at any balance, and names the provider’s model inside as well', async () => {
    const poor = await stack.workspace({ credit: '0' });
    const counting = await stack.key(poor.slug);
    const contents = [{ role: 'user', parts: [{ text: 'count me' }] }];
    const body = JSON.stringify({
      generateContentRequest: {
        model: 'models/sandbox/echo',
        contents,
        generationConfig: { maxOutputTokens: 5 },
      },
    });
    const headers = { 'x-goog-api-key': counting.key };
    const answer = await ask(stack.url, 'POST', '/v1beta/models/sandbox/echo:countTokens', headers, body);
    expect(answer.status).toBe(200);
    expect(jsonOf(answer)).toMatchObject({ totalTokens: 9 });
    const id = headerOf(answer, 'x-request-id') ?? '';
    expect(await stack.call(id)).toMatchObject({
      operation: 'content.count',
      streamed: false,
      cost: '0',
      usageSource: 'none',
      lines: [],
    });
    expect(await linesOf(stack, id)).toEqual([]);
    const generating = await askContent(stack.url, counting.key, 'whole');
    expect([generating.answer.status, codeOf(generating.answer)]).toEqual([402, 'insufficient_balance']);
    await stack.call(generating.id);
    expect(await callsOf(stack, poor.id)).toBe(2);
  });

  it('counts thoughts as output like the candidates, and what tools read as input', async () => {
    const fields = { directive: 'echo?tokens=7&reasoning=5', say: 'search', tools: [{ googleSearch: {} }] };
    const asked = await askContent(stack.url, key, 'sse', fields);
    const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
    const { usage } = await stack.call(asked.id);
    expect(usage).toMatchObject({ output: 12, reasoning: 5, input: end.inputTokens, webSearches: 1 });
  });

  it('falls back before the first byte, also from a refused credential', async () => {
    const asked = await askContent(stack.url, key, 'sse', { model: 'test/content-falls-back' });
    expect(asked.answer.status).toBe(200);
    expect(await stack.call(asked.id)).toMatchObject({
      provider: 'drained',
      attempts: [
        { provider: 'closed', status: null, error: 'connection_refused' },
        { provider: 'miskeyed', status: 401 },
        { provider: 'drained', status: 200 },
      ],
    });
  });
});
