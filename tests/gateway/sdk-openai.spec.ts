import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKey } from '#lib/platform/secrets';
import { callsOf, closeBalanced, costOf, fairNano } from '#tests/support/books';
import { disableKey } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

describe('the official openai SDK', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  async function own(
    keySettings: Parameters<Stack['key']>[1] = {},
    workspaceSettings: Parameters<Stack['workspace']>[0] = {},
  ) {
    const workspace = await stack.workspace(workspaceSettings);
    const { id, key } = await stack.key(workspace.slug, keySettings);
    // Only what every client has to change: address and key.
    const client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key });
    return { client, workspaceId: workspace.id, keyId: id, key };
  }

  const ask = (content: string) => ({
    model: 'sandbox/echo',
    messages: [{ role: 'user' as const, content }],
  });

  /** The provider's account of a call. */
  async function truthOf(id: string) {
    const [attempt] = (await stack.call(id)).attempts;
    return stack.sandbox.ended(attempt?.upstreamRequestId ?? '');
  }

  it('completes a chat', async () => {
    const { client } = await own();
    const answer = await client.chat.completions.create(ask('Hello from the SDK'));
    expect(answer.choices[0]?.message.content).toContain('Hello from the SDK');
    const call = await stack.call(answer._request_id ?? '');
    expect(call).toMatchObject({ status: 200, usageSource: 'reported' });
    expect(call.usage.input).toBe(answer.usage?.prompt_tokens);
    expect(call.usage.output).toBe(answer.usage?.completion_tokens);
    expect(costOf(call)).toBe(fairNano(await truthOf(call.id)));
  });

  it.each([false, true])('streams one, include_usage: %s', async (includeUsage) => {
    const { client } = await own();
    const stream = await client.chat.completions.create({
      ...ask('Hello [[echo?tokens=40]]'),
      stream: true,
      ...(includeUsage ? { stream_options: { include_usage: true } } : {}),
    });
    let text = '';
    let usages = 0;
    let empty = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      if (chunk.usage) usages += 1;
      if (chunk.choices.length === 0) empty += 1;
    }
    expect(text).toMatch(/^Hello/);
    expect([usages, empty]).toEqual(includeUsage ? [1, 1] : [0, 0]);
  });

  it('calls tools, streamed and whole', async () => {
    const { client } = await own();
    const tools = [
      {
        type: 'function' as const,
        function: {
          name: 'get_weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    ];
    const whole = await client.chat.completions.create({ ...ask('Use get_weather'), tools });
    const [call] = whole.choices[0]?.message.tool_calls ?? [];
    expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toHaveProperty('city');
    const streamed = client.chat.completions.stream({ ...ask('Use get_weather'), tools });
    const final = await streamed.finalChatCompletion();
    expect(final.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('lists models and reads one, with a slash in its name', async () => {
    const { client } = await own({ models: ['sandbox/echo', 'sandbox/mini', 'test/nowhere'] });
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toEqual(['sandbox/echo', 'sandbox/mini']);
    expect(await client.models.retrieve('sandbox/mini')).toMatchObject({
      id: 'sandbox/mini',
      object: 'model',
    });
    await expect(client.models.retrieve('sandbox/free')).rejects.toThrow(NotFoundError);
  });

  /** The error that a call throws. */
  async function errorOf(work: () => Promise<unknown>): Promise<APIError> {
    const error = await work().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (error instanceof APIError) return error;
    throw new Error(`no APIError: ${error}`);
  }

  describe.concurrent('types its errors', () => {
    it.each([
      ['a malformed body', BadRequestError, 'invalid_body', { max_tokens: -1 }],
      ['an unknown model', BadRequestError, 'model_not_allowed', { model: 'no/such' }],
      ['a budget over the policy', BadRequestError, 'max_output_tokens_exceeded', { max_tokens: 101 }],
    ])('%s', async (_name, type, code, fields) => {
      const { client, workspaceId } = await own({ maxOutputTokens: 100 });
      const error = await errorOf(() => client.chat.completions.create({ ...ask('Hello'), ...fields }));
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject({ status: 400, code, type: undefined });
      expect(await stack.call(error.requestID ?? '')).toMatchObject({ errorCode: code });
      expect(await callsOf(stack, workspaceId), 'not retried').toBe(1);
    });

    it('an unknown key', async () => {
      const client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: makeKey() });
      const error = await errorOf(() => client.models.list());
      expect(error).toBeInstanceOf(AuthenticationError);
      expect(error.code).toBe('invalid_api_key');
    });

    it('a disabled key', async () => {
      const { client, keyId } = await own();
      await disableKey(stack.db, { id: keyId });
      await stack.announce();
      const error = await errorOf(() => client.chat.completions.create(ask('Hello')));
      expect(error).toBeInstanceOf(PermissionDeniedError);
      expect(error.code).toBe('apikey_inactive');
    });

    it('no funds, without a retry', async () => {
      const { client, workspaceId } = await own({}, { credit: '0' });
      const error = await errorOf(() => client.chat.completions.create(ask('Hello')));
      expect(error).toMatchObject({ status: 402, code: 'insufficient_balance' });
      expect(await callsOf(stack, workspaceId).then(() => stack.call(error.requestID ?? ''))).toMatchObject({
        status: 402,
      });
      expect(await callsOf(stack, workspaceId)).toBe(1);
    });

    it('an error inside a stream', async () => {
      const { client } = await own();
      const stream = await client.chat.completions.create({ ...ask('[[fault/cut@3]]'), stream: true });
      const error = await errorOf(async () => {
        for await (const _ of stream);
      });
      expect(error.code).toBe('upstream_request_failed');
      expect(error.requestID).toMatch(/^[0-9a-f-]{36}$/);
    });

    it.each(['create', 'stream'] as const)('an error inside a stream of a response: %s', async (how) => {
      const { client } = await own();
      const asked = { model: 'sandbox/echo', input: 'Say it [[fault/cut@3]]' };
      const seen: string[] = [];
      const error = await errorOf(async () => {
        const stream =
          how === 'create'
            ? await client.responses.create({ ...asked, stream: true })
            : client.responses.stream(asked);
        for await (const event of stream) seen.push(event.type);
      });
      expect(seen.at(-1)).toBe('response.failed');
      expect(error).toMatchObject({
        code: 'upstream_request_failed',
        message: expect.stringMatching(/broke off/),
      });
    });

    it("a provider's own error passes with its type", async () => {
      const { client } = await own();
      const error = await errorOf(() => client.chat.completions.create(ask('[[fault/status-404]]')));
      expect(error).toMatchObject({ status: 404, code: 'model_not_found', type: 'invalid_request_error' });
    });

    it('a whole answer that breaks is no answer', async () => {
      const { client } = await own();
      const once = new OpenAI({ baseURL: client.baseURL, apiKey: client.apiKey, maxRetries: 0 });
      await expect(once.chat.completions.create(ask('[[fault/cut]]'))).rejects.toThrow();
    });
  });

  describe.concurrent('retries', () => {
    it('transient errors, as often as configured, each as a call of its own', async () => {
      const { key, workspaceId } = await own();
      const client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 2 });
      const error = await errorOf(() =>
        client.chat.completions.create({ ...ask('Hello'), model: 'test/closed' }),
      );
      expect(error).toBeInstanceOf(InternalServerError);
      expect(error).toMatchObject({ status: 502, code: 'upstream_request_failed' });
      await eventually(() => callsOf(stack, workspaceId), 3);
    });

    it('until the provider is well again', async () => {
      const { client, workspaceId } = await own();
      const answer = await client.chat.completions.create(
        ask(`[[fault/status-503?times=1&one=sdk-openai&tokens=5]]`),
      );
      expect(answer.choices).toHaveLength(1);
      await eventually(() => callsOf(stack, workspaceId), 2);
    });

    it('no error for which x-should-retry is false', async () => {
      const { key, workspaceId } = await own({ dailyCap: '0.000001' });
      const client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 5 });
      const first = await client.chat.completions.create(ask('Hello'));
      await stack.call(first._request_id ?? '');
      const error = await errorOf(() => client.chat.completions.create(ask('Hello')));
      expect(error).toMatchObject({ status: 402, code: 'day_limit_reached' });
      await stack.call(error.requestID ?? '');
      expect(await callsOf(stack, workspaceId)).toBe(2);
    });

    it('a rate limit arrives with its wait', async () => {
      const { key } = await own({ rpm: 1 });
      const client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 0 });
      await client.chat.completions.create(ask('Hello'));
      const error = await errorOf(() => client.chat.completions.create(ask('Hello')));
      expect(error).toBeInstanceOf(RateLimitError);
      expect(error.code).toBe('api_key_rpm_exceeded');
      expect(Number(error.headers?.get('retry-after'))).toBeGreaterThan(0);
    });
  });
});
