import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeBalanced } from '#tests/support/books';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

const model = 'sandbox/echo';
const input = 'Hello there';
const say = (directive: string) => `Say it [[${directive}]]`;
const weather = {
  type: 'function' as const,
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: true,
};

describe('the responses family’s official client', () => {
  let stack: Stack;
  let workspace: string;
  let client: OpenAI;
  const connect = (apiKey: string) => new OpenAI({ baseURL: `${stack.url}/v1`, apiKey, maxRetries: 0 });
  beforeAll(async () => {
    stack = await joinStack();
    workspace = (await stack.workspace({ rpm: 10_000 })).slug;
    client = connect((await stack.key(workspace)).key);
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  it('creates a response and knows its request by the gateway’s id', async () => {
    const { data, request_id: id } = await client.responses.create({ model, input }).withResponse();
    expect(data.output_text).toContain(input);
    const call = await stack.call(id ?? '');
    expect(call).toMatchObject({ operation: 'responses.create', usageSource: 'reported', streamed: false });
    expect(call.usage).toMatchObject({ input: data.usage?.input_tokens, output: data.usage?.output_tokens });
  });

  it('streams the same response, with its helper', async () => {
    const whole = await client.responses.create({ model, input });
    const stream = client.responses.stream({ model, input });
    let text = '';
    stream.on('response.output_text.delta', ({ delta }) => {
      text += delta;
    });
    const final = await stream.finalResponse();
    expect(text).toBe(whole.output_text);
    expect(final).toMatchObject({ status: 'completed', output_text: text, usage: whole.usage });
  });

  it('has a function called, gives its result back and gets words', async () => {
    const asked = [{ role: 'user' as const, content: 'Please use get_weather' }];
    const stream = client.responses.stream({ model, input: asked, tools: [weather] });
    const [call] = (await stream.finalResponse()).output;
    if (call?.type !== 'function_call') throw new Error('no function was called');
    expect(JSON.parse(call.arguments)).toEqual({ city: expect.any(String) });
    const { type, call_id, name } = call;
    const said = { type, call_id, name, arguments: call.arguments };
    const result = { type: 'function_call_output' as const, call_id, output: '21 degrees' };
    const answer = await client.responses.create({
      model,
      input: [...asked, said, result],
      tools: [weather],
    });
    expect(answer.output_text).toContain('21 degrees');
  });

  it('continues, reads, lists and deletes what is kept', async () => {
    const first = await client.responses.create({ model, input });
    const next = await client.responses.create({ model, input, previous_response_id: first.id });
    expect(next.usage?.input_tokens).toBe(
      (first.usage?.total_tokens ?? 0) + (first.usage?.input_tokens ?? 0),
    );
    expect(await client.responses.retrieve(first.id)).toMatchObject({
      id: first.id,
      output_text: first.output_text,
    });
    const items = await client.responses.inputItems.list(first.id);
    expect(items.data).toMatchObject([{ role: 'user', content: [{ text: input }] }]);
    await client.responses.delete(first.id);
    await expect(client.responses.retrieve(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('runs one in the background, polls it and cancels another', async () => {
    const queued = await client.responses.create({
      model,
      input: say('echo?tokens=9'),
      background: true,
    });
    expect(queued).toMatchObject({ status: 'queued', output: [] });
    let polled = queued;
    while (polled.status === 'queued' || polled.status === 'in_progress') {
      polled = await client.responses.retrieve(queued.id);
    }
    expect(polled).toMatchObject({ status: 'completed', usage: { output_tokens: 9 } });
    const other = await client.responses.create({
      model,
      input: say('echo?job_ms=600000'),
      background: true,
    });
    expect((await client.responses.cancel(other.id)).status).toBe('cancelled');
  });

  describe('raises typed errors', () => {
    const create = (sdk: OpenAI, fields: object = {}) =>
      sdk.responses.create({ model, input, ...fields }).then(
        () => {
          throw new Error('it was answered');
        },
        (error: unknown) => error,
      );

    it('of the gateway, with its code and the request’s id', async () => {
      const wrong = await create(connect(`mg_${'a'.repeat(49)}`));
      expect(wrong).toBeInstanceOf(OpenAI.AuthenticationError);
      expect(wrong).toMatchObject({ status: 401, code: 'invalid_api_key' });
      const unknown = await create(client, { model: 'sandbox/none' });
      expect(unknown).toBeInstanceOf(OpenAI.BadRequestError);
      expect(unknown).toMatchObject({
        code: 'model_not_allowed',
        requestID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
    });

    it.each([
      [404, OpenAI.NotFoundError, 'model_not_found'],
      [429, OpenAI.RateLimitError, 'rate_limit_exceeded'],
      [500, OpenAI.InternalServerError, null],
    ])('of the provider: %i', async (status, type, code) => {
      const error = await create(client, { input: say(`fault/status-${status}`) });
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject({ status, code });
    });

    it.each(['fault/cut@3', 'fault/error-event@3'])('in a stream that breaks: %s', async (fault) => {
      const helped = client.responses.stream({ model, input: say(fault) });
      await expect(helped.finalResponse()).rejects.toBeInstanceOf(OpenAI.APIError);
      const raw = await client.responses.create({ model, input: say(fault), stream: true });
      const read = async () => {
        for await (const event of raw) expect(event.type).not.toBe('response.completed');
      };
      await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
    });
  });
});
