import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textTokens } from '#tools/sandbox/content/tokens';
import { type Sandbox, startSandbox } from '#tools/sandbox/server';

let sandbox: Sandbox;
let client: OpenAI;
beforeAll(async () => {
  sandbox = await startSandbox({ key: 'sk-sandbox' });
  client = new OpenAI({ baseURL: sandbox.url, apiKey: 'sk-sandbox', maxRetries: 0 });
});
afterAll(() => sandbox.close());

const hello = [{ role: 'user' as const, content: 'Hello there' }];

test('the same prompt gives the same text, with characters of one to four bytes', async () => {
  const ask = () => client.chat.completions.create({ model: 'echo?tokens=120', messages: hello });
  const [one, two] = [await ask(), await ask()];
  const text = one.choices[0]?.message.content ?? '';
  expect(two.choices[0]?.message.content).toBe(text);
  expect(text.startsWith('Hello there')).toBe(true);
  expect(text).toMatch(/世界|你好|模型/);
  expect(text).toMatch(/\p{Emoji_Presentation}/u);
});

test('a stream has the same text and the same usage as a whole answer', async () => {
  const whole = await client.chat.completions.create({ model: 'echo', messages: hello });
  const stream = await client.chat.completions.create({
    model: 'echo',
    messages: hello,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = '';
  const usages: unknown[] = [];
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    if (chunk.choices.length > 0) expect(chunk.usage).toBeNull();
    else usages.push(chunk.usage);
  }
  expect(text).toBe(whole.choices[0]?.message.content);
  expect(usages).toEqual([whole.usage]);
});

test('without include_usage, no chunk has the key usage', async () => {
  const stream = await client.chat.completions.create({ model: 'echo', messages: hello, stream: true });
  for await (const chunk of stream) {
    expect(chunk).not.toHaveProperty('usage');
    expect(chunk.choices).toHaveLength(1);
  }
});

test('input tokens count the prompt, output tokens the answer', async () => {
  const answer = await client.chat.completions.create({
    model: 'echo?tokens=37&reasoning=5',
    messages: hello,
  });
  expect(answer.usage?.prompt_tokens).toBe(3 + 4 + textTokens('Hello there'));
  expect(answer.usage?.completion_tokens).toBe(42);
  expect(answer.usage?.completion_tokens_details?.reasoning_tokens).toBe(5);
});

test('either budget stops the answer, reasoning included, with finish_reason length', async () => {
  for (const budget of [{ max_tokens: 9 }, { max_completion_tokens: 9 }]) {
    const answer = await client.chat.completions.create({ model: 'reasoner', messages: hello, ...budget });
    expect(answer.choices[0]?.finish_reason).toBe('length');
    expect(answer.choices[0]?.message.content).toBe('');
    expect(answer.usage?.completion_tokens).toBe(9);
  }
});

test('an answer exactly as long as its budget ends with stop', async () => {
  const answer = await client.chat.completions.create({
    model: 'echo?tokens=9',
    max_tokens: 9,
    messages: hello,
  });
  expect(answer.choices[0]?.finish_reason).toBe('stop');
});

test('n choices differ, and the usage is their sum', async () => {
  const answer = await client.chat.completions.create({ model: 'echo?tokens=30', n: 3, messages: hello });
  expect(new Set(answer.choices.map((choice) => choice.message.content)).size).toBe(3);
  expect(answer.usage?.completion_tokens).toBe(90);
});

test('a stop sequence ends the text before it', async () => {
  const answer = await client.chat.completions.create({ model: 'echo', stop: 'there', messages: hello });
  expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Hello ' } });
});

test('a known long prefix is reported as cached, a short one only with a cache key', async () => {
  const long = [{ role: 'user' as const, content: `${'prefix cache '.repeat(500)}${Date.now()}` }];
  const cached = async (messages: typeof long, key?: string) => {
    const extra = key === undefined ? {} : { prompt_cache_key: key };
    const answer = await client.chat.completions.create({ model: 'priced-cache', messages, ...extra });
    return answer.usage?.prompt_tokens_details;
  };
  expect(await cached(long)).toMatchObject({ cached_tokens: 0, cache_write_tokens: 12 * 128 });
  expect(await cached(long)).toMatchObject({ cached_tokens: 12 * 128 });
  const short = [{ role: 'user' as const, content: 'short prefix '.repeat(60) }];
  expect([await cached(short), await cached(short)].map((read) => read?.cached_tokens)).toEqual([0, 0]);
  expect([await cached(short, 'k'), await cached(short, 'k')].map((read) => read?.cached_tokens)).toEqual([
    0, 128,
  ]);
});

test('the answer names the service tier that served it', async () => {
  for (const [asked, given] of [
    ['auto', 'default'],
    ['flex', 'flex'],
    ['fast', 'priority'],
  ] as const) {
    const body = { model: 'echo', messages: hello, service_tier: asked };
    const answer = await client.post<{ service_tier: string }>('/chat/completions', { body });
    expect(answer.service_tier).toBe(given);
  }
});

test('a tool is called when the prompt names it, with arguments that fit its schema', async () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const tools = [{ type: 'function' as const, function: { name: 'get_weather', parameters } }];
  const messages = [{ role: 'user' as const, content: 'Please use get_weather' }];
  const stream = client.chat.completions.stream({ model: 'echo', messages, tools });
  const [call] = (await stream.finalChatCompletion()).choices[0]?.message.tool_calls ?? [];
  expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toEqual({
    city: 'Please use get_weather 世界 🌍',
  });
  const plain = await client.chat.completions.create({ model: 'echo', messages: hello, tools });
  expect(plain.choices[0]?.message.tool_calls).toBeUndefined();
});

test('a wrong key gets 401 in the format of the family', async () => {
  const stranger = new OpenAI({ baseURL: sandbox.url, apiKey: 'sk-other', maxRetries: 0 });
  const failure = stranger.chat.completions.create({ model: 'echo', messages: hello });
  await expect(failure).rejects.toMatchObject({
    status: 401,
    code: 'invalid_api_key',
    type: 'invalid_request_error',
  });
});

test('an unknown model, and a budget or prompt too large for a model, are refused', async () => {
  const ask = (model: string, content: string, budget?: number) =>
    client.chat.completions.create({
      model,
      messages: [{ role: 'user', content }],
      ...(budget === undefined ? {} : { max_tokens: budget }),
    });
  await expect(ask('gpt-9', 'Hi')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  await expect(ask('mini', 'Hi', 257)).rejects.toMatchObject({ status: 400, code: 'invalid_value' });
  await expect(ask('mini', 'x'.repeat(20_000))).rejects.toMatchObject({
    status: 400,
    code: 'context_length_exceeded',
  });
});

test('more choices than providers allow are refused', async () => {
  const ask = (n: number) => client.chat.completions.create({ model: 'echo', messages: hello, n });
  await expect(ask(129)).rejects.toMatchObject({ status: 400, code: 'integer_above_max_value' });
  expect((await ask(128)).choices).toHaveLength(128);
});

test('an answer has the request id, an echo of the credential, a cookie and the account limits', async () => {
  const { response, request_id } = await client.chat.completions
    .create({ model: 'echo', messages: hello })
    .withResponse();
  expect(request_id).toMatch(/^req_[0-9a-f]{32}$/);
  expect(response.headers.get('x-echo-authorization')).toBe('Bearer sk-sandbox');
  expect(response.headers.get('set-cookie')).toContain('__cf_bm');
  expect(response.headers.get('x-ratelimit-limit-requests')).toBe('10000');
});

test('the list of models names plain models and faults', async () => {
  const ids = (await client.models.list()).data.map((model) => model.id);
  expect(ids).toEqual(
    expect.arrayContaining(['echo', 'mini', 'priced-cache', 'fault/cut', 'fault/usage-twice']),
  );
});
