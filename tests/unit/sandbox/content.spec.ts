import { ApiError, GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textTokens } from '#tools/sandbox/content/tokens';
import { type Sandbox, startSandbox } from '#tools/sandbox/server';

let sandbox: Sandbox;
let models: GoogleGenAI['models'];
beforeAll(async () => {
  sandbox = await startSandbox({ key: 'sk-sandbox' });
  const client = new GoogleGenAI({ apiKey: 'sk-sandbox', httpOptions: { baseUrl: sandbox.origin } });
  models = client.models;
});
afterAll(() => sandbox.close());

const contents = 'Hello there';

/** The raw text of an answer. */
async function raw(model: string, method: string, body: object = {}): Promise<Response> {
  return fetch(`${sandbox.origin}/v1beta/models/${encodeURIComponent(model)}:${method}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': 'sk-sandbox' },
    body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: contents }] }], ...body }),
  });
}

test('a stream has the same text and, at its end, the same usage as a whole answer', async () => {
  const whole = await models.generateContent({ model: 'reasoner', contents });
  expect(whole.text?.startsWith(contents)).toBe(true);
  let text = '';
  let usage: object | undefined;
  for await (const chunk of await models.generateContentStream({ model: 'reasoner', contents })) {
    text += chunk.text ?? '';
    usage = chunk.usageMetadata;
  }
  expect(text).toBe(whole.text);
  expect(usage).toEqual(whole.usageMetadata);
});

test('thoughts are counted separately from candidates, and searches separately from the prompt', async () => {
  const text = 'search for it [[echo?tokens=37&reasoning=5]]';
  const { usageMetadata } = await models.generateContent({
    model: 'echo',
    contents: text,
    config: { tools: [{ googleSearch: {} }] },
  });
  const prompt = 3 + 4 + textTokens(JSON.stringify([{ googleSearch: {} }])) + textTokens(text);
  expect(usageMetadata).toMatchObject({
    promptTokenCount: prompt,
    toolUsePromptTokenCount: 300,
    candidatesTokenCount: 37,
    thoughtsTokenCount: 5,
    totalTokenCount: prompt + 342,
  });
});

test('the budget includes thoughts, and every candidate is in the answer', async () => {
  const tight = await models.generateContent({
    model: 'reasoner',
    contents,
    config: { maxOutputTokens: 9 },
  });
  expect(tight.candidates?.[0]?.finishReason).toBe('MAX_TOKENS');
  expect(tight.usageMetadata).toMatchObject({ thoughtsTokenCount: 9 });
  const two = await models.generateContent({ model: 'echo', contents, config: { candidateCount: 2 } });
  expect(two.candidates).toHaveLength(2);
});

test('an SSE stream has only data lines and blank lines, with CRLF', async () => {
  const text = await (await raw('echo', 'streamGenerateContent?alt=sse')).text();
  const events = text.split('\r\n\r\n');
  expect(events.pop()).toBe('');
  expect(events.length).toBeGreaterThan(5);
  for (const event of events) expect(event).toMatch(/^data: \{[^\r\n]*\}$/);
});

test('without alt=sse, a stream is a pretty-printed JSON array', async () => {
  const answer = await raw('echo', 'streamGenerateContent');
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  const text = await answer.text();
  expect(text.startsWith('[{\n')).toBe(true);
  expect(text).toContain('}\n,\r\n{');
  expect(JSON.parse(text).length).toBeGreaterThan(5);
});

test('a blocked prompt has no candidates, and usage only for the prompt', async () => {
  const text = 'FORBIDDEN';
  const blocked = await models.generateContent({ model: 'echo', contents: text });
  expect(blocked.candidates).toBeUndefined();
  expect(blocked.promptFeedback?.blockReason).toBe('PROHIBITED_CONTENT');
  expect(blocked.usageMetadata?.totalTokenCount).toBe(7 + textTokens(text));
});

test('counting tokens is free, also for a nested request that names its model', async () => {
  expect((await models.countTokens({ model: 'echo', contents })).totalTokens).toBe(7 + textTokens(contents));
  const request = { contents: [{ parts: [{ text: contents }] }] };
  const nested = (model: string) =>
    raw('echo', 'countTokens', { contents: undefined, generateContentRequest: { ...request, model } });
  expect((await nested('models/echo')).status).toBe(200);
  expect((await nested('models/other')).status).toBe(400);
  const [end] = (await sandbox.truth.read(0, (line) => line.event === 'end', 0)).slice(-2);
  expect(end).toMatchObject({ family: 'generate-content', inputTokens: 0, outputTokens: 0, status: 200 });
});

test('errors have the family’s format, and an unknown API key its reason', async () => {
  const failed = await models
    .generateContent({ model: 'fault/status-429', contents })
    .catch((error) => error);
  expect(failed).toBeInstanceOf(ApiError);
  expect(JSON.parse(failed.message)).toMatchObject({
    error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: expect.any(String) },
  });
  const invalid = await (await raw('fault/invalid-key-400', 'generateContent')).json();
  expect(invalid.error.details[0].reason).toBe('API_KEY_INVALID');
});
