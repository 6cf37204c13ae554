import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeBalanced } from '#tests/support/books';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

const model = 'sandbox/echo';
const hello = [{ role: 'user' as const, content: 'Hello there' }];
const say = (directive: string) => [{ role: 'user' as const, content: `Say it [[${directive}]]` }];

describe('the messages family’s official client', () => {
  let stack: Stack;
  let workspace: string;
  let client: Anthropic;
  const connect = (apiKey: string) => new Anthropic({ baseURL: stack.url, apiKey, maxRetries: 0 });
  beforeAll(async () => {
    stack = await joinStack();
    workspace = (await stack.workspace({ rpm: 10_000 })).slug;
    client = connect((await stack.key(workspace)).key);
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  it('creates a message and knows its request by the gateway’s id', async () => {
    const { data, request_id: id } = await client.messages
      .create({ model, max_tokens: 100, messages: hello })
      .withResponse();
    expect(data.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('Hello there') });
    expect(data.stop_reason).toBe('end_turn');
    const call = await stack.call(id ?? '');
    expect(call.usage).toMatchObject({ input: data.usage.input_tokens, output: data.usage.output_tokens });
  });

  it('streams the same message, with its helpers', async () => {
    const whole = await client.messages.create({ model, max_tokens: 100, messages: hello });
    const stream = client.messages.stream({ model, max_tokens: 100, messages: hello });
    let text = '';
    const names: string[] = [];
    stream.on('text', (piece) => {
      text += piece;
    });
    stream.on('streamEvent', (event) => names.push(event.type));
    const message = await stream.finalMessage();
    expect(message.content).toEqual(whole.content);
    expect(message.usage).toMatchObject({ output_tokens: whole.usage.output_tokens });
    expect(text).toBe(await stream.finalText());
    expect([names[0], names.at(-1)]).toEqual(['message_start', 'message_stop']);
    const call = await stack.call(stream.request_id ?? '');
    expect(call).toMatchObject({ streamed: true, usageSource: 'reported', endReason: 'completed' });
    expect(call.usage.output).toBe(message.usage.output_tokens);
  });

  it('streams thinking and tool calls', async () => {
    const stream = client.messages.stream({
      model: 'sandbox/reasoner',
      max_tokens: 500,
      messages: [{ role: 'user', content: 'Please use get_weather' }],
      tools: [
        {
          name: 'get_weather',
          input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
    });
    const message = await stream.finalMessage();
    expect(message.stop_reason).toBe('tool_use');
    expect(message.content.map((block) => block.type)).toEqual(['thinking', 'tool_use']);
    expect(message.content[1]).toMatchObject({ name: 'get_weather', input: { city: expect.any(String) } });
    expect((await stack.call(stream.request_id ?? '')).usage.reasoning).toBe(24);
  });

  it('counts tokens as the answer then reports them', async () => {
    const { input_tokens: counted } = await client.messages.countTokens({ model, messages: hello });
    const { usage } = await client.messages.create({ model, max_tokens: 10, messages: hello });
    expect(counted).toBe(usage.input_tokens);
  });

  it('lists and reads the models', async () => {
    const page = await client.models.list();
    expect(page.data.map(({ id }) => id)).toContain(model);
    expect(await client.models.retrieve(model)).toMatchObject({ type: 'model', display_name: 'Echo' });
  });

  it('sends its key as x-api-key too', async () => {
    const { key } = await stack.key(workspace);
    const older = new Anthropic({
      baseURL: stack.url,
      apiKey: null,
      authToken: null,
      defaultHeaders: { 'x-api-key': key, authorization: null },
      maxRetries: 0,
    });
    const { type } = await older.messages.create({ model, max_tokens: 10, messages: hello });
    expect(type).toBe('message');
  });

  describe('raises typed errors', () => {
    const create = (sdk: Anthropic, fields: object = {}) =>
      sdk.messages.create({ model, max_tokens: 10, messages: hello, ...fields }).then(
        () => {
          throw new Error('it was answered');
        },
        (error: unknown) => error,
      );

    it('of the gateway, with its code and the request’s id', async () => {
      const wrong = await create(connect(`mg_${'a'.repeat(49)}`));
      expect(wrong).toBeInstanceOf(Anthropic.AuthenticationError);
      expect(wrong).toMatchObject({ status: 401, error: { error: { code: 'invalid_api_key' } } });
      const scoped = await create(client, { model: 'sandbox/none' });
      expect(scoped).toBeInstanceOf(Anthropic.BadRequestError);
      expect(scoped).toMatchObject({
        requestID: expect.stringMatching(/^[0-9a-f-]{36}$/),
        error: { error: { code: 'model_not_allowed' } },
      });
    });

    it.each([
      [404, Anthropic.NotFoundError, 'not_found_error'],
      [429, Anthropic.RateLimitError, 'rate_limit_error'],
      [500, Anthropic.InternalServerError, 'api_error'],
    ])('of the provider: %i', async (status, type, name) => {
      const error = await create(client, { messages: say(`fault/status-${status}`) });
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject({ status, type: name });
    });

    it.each(['fault/cut@3', 'fault/error-event@3'])('in a stream that breaks: %s', async (fault) => {
      const stream = client.messages.stream({ model, max_tokens: 100, messages: say(fault) });
      await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIError);
      const raw = await client.messages.create({
        model,
        max_tokens: 100,
        messages: say(fault),
        stream: true,
      });
      const read = async () => {
        for await (const event of raw) expect(event.type).not.toBe('message_stop');
      };
      await expect(read()).rejects.toBeInstanceOf(Anthropic.APIError);
    });
  });
});
