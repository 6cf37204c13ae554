import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { textTokens } from '#tools/sandbox/content/tokens';
import { type Sandbox, startSandbox } from '#tools/sandbox/server';

let sandbox: Sandbox;
let responses: OpenAI['responses'];
beforeAll(async () => {
  sandbox = await startSandbox({ key: 'sk-sandbox' });
  responses = new OpenAI({ baseURL: sandbox.url, apiKey: 'sk-sandbox', maxRetries: 0 }).responses;
});
afterAll(() => sandbox.close());

const input = 'Hello there';
const tokens = 3 + 4 + textTokens(input);
const settled = async (id: string) => {
  for (;;) {
    const response = await responses.retrieve(id);
    if (response.status !== 'queued' && response.status !== 'in_progress') return response;
  }
};

describe('a response', () => {
  test('is the same whole and streamed, and its helper ends with the same object', async () => {
    const whole = await responses.create({ model: 'reasoner', input });
    expect(whole.output_text.startsWith(input)).toBe(true);
    const stream = responses.stream({ model: 'reasoner', input });
    const types: string[] = [];
    const numbers: number[] = [];
    for await (const event of stream) {
      types.push(event.type);
      numbers.push(event.sequence_number);
    }
    const final = await stream.finalResponse();
    expect(final.output_text).toBe(whole.output_text);
    expect(final.usage).toEqual(whole.usage);
    expect(numbers).toEqual(numbers.map((_, index) => index));
    expect([...new Set(types)]).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.output_item.done',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.completed',
    ]);
  });

  test('counts its input, its output and the reasoning in it', async () => {
    const { usage } = await responses.create({ model: 'echo?tokens=37&reasoning=5', input });
    expect(usage).toMatchObject({
      input_tokens: tokens,
      output_tokens: 42,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: tokens + 42,
    });
  });

  test('that its budget cuts short is incomplete', async () => {
    const cut = await responses.create({ model: 'echo?tokens=90', input, max_output_tokens: 20 });
    expect(cut).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    expect(cut.usage?.output_tokens).toBe(20);
    const refused = responses.create({ model: 'echo', input, max_output_tokens: 3 });
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'max_output_tokens' });
  });

  test('calls a function that the prompt names, and answers in text after its result', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const tool = { type: 'function' as const, name: 'get_weather', parameters, strict: true };
    const asked = [{ role: 'user' as const, content: 'Please use get_weather' }];
    const first = await responses.create({ model: 'echo', input: asked, tools: [tool] });
    const call = first.output[0];
    if (call?.type !== 'function_call') throw new Error('no function was called');
    expect(JSON.parse(call.arguments)).toEqual({ city: 'Please use get_weather 世界 🌍' });
    const result = { type: 'function_call_output' as const, call_id: call.call_id, output: '21 degrees' };
    const second = await responses.create({ model: 'echo', input: [...asked, call, result], tools: [tool] });
    expect(second.output_text.startsWith('21 degrees')).toBe(true);
  });

  test('reports the usage of its image tool and of its searches separately', async () => {
    const made = await responses.create({
      model: 'echo',
      input: 'search and draw a cat',
      tools: [{ type: 'image_generation', model: 'mini' }, { type: 'web_search' }],
    });
    expect(made.output.map(({ type }) => type)).toEqual([
      'web_search_call',
      'image_generation_call',
      'message',
    ]);
    expect(made.tool_usage).toMatchObject({
      image_gen: { input_tokens: 40, output_tokens: 280, output_tokens_details: { image_tokens: 272 } },
      web_search: { num_requests: 1 },
    });
  });
});

describe('what the provider stores', () => {
  test('is continued by its id: its input and output are input again', async () => {
    const first = await responses.create({ model: 'echo', input });
    const next = await responses.create({ model: 'echo', input, previous_response_id: first.id });
    expect(next.usage?.input_tokens).toBe((first.usage?.total_tokens ?? 0) + tokens);
    const unknown = responses.create({ model: 'echo', input, previous_response_id: 'resp_none' });
    await expect(unknown).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' });
  });

  test('is read, listed by input and deleted', async () => {
    const made = await responses.create({
      model: 'echo',
      input: [
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
      ],
    });
    expect(await responses.retrieve(made.id)).toMatchObject({ id: made.id, usage: made.usage });
    const items = [];
    for await (const item of responses.inputItems.list(made.id, { limit: 1, order: 'asc' })) items.push(item);
    expect(items).toMatchObject([{ content: [{ text: 'a' }] }, { content: [{ text: 'b' }] }]);
    await responses.delete(made.id);
    await expect(responses.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    const loose = await responses.create({ model: 'echo', input, store: false });
    await expect(responses.retrieve(loose.id)).rejects.toMatchObject({ status: 404 });
  });

  test('can be referred to item by item; only the provider that encrypted reasoning accepts it', async () => {
    const sealed = { include: ['reasoning.encrypted_content' as const], store: false };
    const first = await responses.create({ model: 'reasoner', input, ...sealed });
    const [reasoning] = first.output;
    if (reasoning?.type !== 'reasoning') throw new Error('it did not reason');
    await responses.create({ model: 'reasoner', input: [reasoning], store: false });
    const forged = { ...reasoning, encrypted_content: 'AAAA' };
    const refused = responses.create({ model: 'reasoner', input: [forged] });
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'invalid_encrypted_content' });
    const kept = await responses.create({ model: 'echo?tokens=50', input });
    const id = kept.output[0]?.id ?? '';
    const { usage } = await responses.create({ model: 'echo', input: [{ type: 'item_reference', id }] });
    expect(usage?.input_tokens).toBe(3 + 4 + 50);
    const unknown = responses.create({ model: 'echo', input: [{ type: 'item_reference', id: 'msg_none' }] });
    await expect(unknown).rejects.toMatchObject({ status: 404 });
  });
});

describe('a response in the background', () => {
  test('is queued at once, runs, and then has its answer and usage', async () => {
    const model = 'echo?job_ms=60&tokens=9';
    const queued = await responses.create({ model, input, background: true });
    expect(queued).toMatchObject({ status: 'queued', output: [], usage: null });
    expect(await settled(queued.id)).toMatchObject({ status: 'completed', usage: { output_tokens: 9 } });
  });

  test('can fail, or be cancelled while it runs', async () => {
    const failed = await responses.create({ model: 'echo?job_ms=0&job=failed', input, background: true });
    expect(failed).toMatchObject({ status: 'failed', usage: null, error: { code: 'server_error' } });
    const running = await responses.create({ model: 'echo?job=never', input, background: true });
    expect(await responses.cancel(running.id)).toMatchObject({ status: 'cancelled', usage: null });
    const plain = await responses.create({ model: 'echo', input });
    await expect(responses.cancel(plain.id)).rejects.toMatchObject({ status: 400 });
  });

  test('that was created as a stream can be streamed again from any event', async () => {
    const stream = await responses.create({ model: 'echo', input, background: true, stream: true });
    const numbers: number[] = [];
    let id = '';
    for await (const event of stream) {
      numbers.push(event.sequence_number);
      if (event.type === 'response.created') id = event.response.id;
    }
    const rest: number[] = [];
    for await (const event of await responses.retrieve(id, { stream: true, starting_after: 4 })) {
      rest.push(event.sequence_number);
    }
    expect(rest).toEqual(numbers.slice(5));
  });
});

test('the name of the model that created a response decides about requests on it', async () => {
  const made = await responses.create({ model: 'echo?get=fault/status-503', input });
  await expect(responses.retrieve(made.id)).rejects.toMatchObject({ status: 503 });
  await responses.delete(made.id);
});

test('faults have the format of the family', async () => {
  await expect(responses.create({ model: 'fault/status-429', input })).rejects.toMatchObject({ status: 429 });
  const broken = await responses.create({ model: 'fault/error-event@2', input, stream: true });
  const read = async () => {
    for await (const _event of broken);
  };
  await expect(read()).rejects.toMatchObject({ type: 'server_error' });
});
