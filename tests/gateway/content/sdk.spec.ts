import { ApiError, type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeBalanced } from '#tests/support/books';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { record } from '#tools/sandbox/content/tool-call';

const model = 'sandbox/echo';
const contents = 'Hello there';

describe('the generate-content family’s official client', () => {
  let stack: Stack;
  let workspace: string;
  let key: string;
  const connect = (apiKey: string, apiVersion?: string) =>
    new GoogleGenAI({ apiKey, httpOptions: { baseUrl: stack.url, ...(apiVersion ? { apiVersion } : {}) } })
      .models;
  beforeAll(async () => {
    stack = await joinStack();
    workspace = (await stack.workspace({ rpm: 10_000 })).slug;
    key = (await stack.key(workspace)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const idOf = ({ sdkHttpResponse }: GenerateContentResponse) =>
    new Headers(sdkHttpResponse?.headers).get('x-request-id') ?? '';

  async function textOf(stream: AsyncIterable<GenerateContentResponse>) {
    let text = '';
    let last: GenerateContentResponse | undefined;
    for await (const chunk of stream) {
      text += chunk.text ?? '';
      last = chunk;
    }
    if (!last) throw new Error('the stream was empty');
    return { text, last };
  }

  describe.each([undefined, 'v1', 'v1beta', 'v1alpha'])('with API version %s', (version) => {
    it('generates', async () => {
      const answer = await connect(key, version).generateContent({ model, contents });
      expect(answer.text).toContain(contents);
      const call = await stack.call(idOf(answer));
      expect(call).toMatchObject({ operation: 'content.generate', usageSource: 'reported' });
      expect(call.usage).toMatchObject({
        input: answer.usageMetadata?.promptTokenCount,
        output: answer.usageMetadata?.candidatesTokenCount,
      });
    });

    it('streams the same text and usage', async () => {
      const whole = await connect(key, version).generateContent({ model, contents });
      const stream = await connect(key, version).generateContentStream({ model, contents });
      const { text, last } = await textOf(stream);
      expect(text).toBe(whole.text);
      expect(last.usageMetadata).toEqual(whole.usageMetadata);
      const call = await stack.call(idOf(last));
      expect(call).toMatchObject({ operation: 'content.stream', streamed: true, endReason: 'completed' });
      expect(call.usage.output).toBe(last.usageMetadata?.candidatesTokenCount);
    });

    it('counts tokens as the answer then reports them', async () => {
      const { totalTokens } = await connect(key, version).countTokens({ model, contents });
      const { usageMetadata } = await connect(key, version).generateContent({ model, contents });
      expect(totalTokens).toBe(usageMetadata?.promptTokenCount);
    });

    it('lists and reads the models', async () => {
      const names: (string | undefined)[] = [];
      for await (const { name } of await connect(key, version).list()) names.push(name);
      expect(names).toContain(`models/${model}`);
      expect(await connect(key, version).get({ model })).toMatchObject({
        name: `models/${model}`,
        displayName: 'Echo',
        outputTokenLimit: 65_536,
      });
    });
  });

  it('takes the names that the list gives', async () => {
    expect((await connect(key).generateContent({ model: `models/${model}`, contents })).text).toContain(
      contents,
    );
  });

  it('streams thoughts and calls tools', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const stream = await connect(key).generateContentStream({
      model: 'sandbox/reasoner',
      contents: 'Please use get_weather',
      config: {
        thinkingConfig: { includeThoughts: true },
        tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: parameters }] }],
      },
    });
    const called: unknown[] = [];
    let last: GenerateContentResponse | undefined;
    for await (const chunk of stream) {
      called.push(...(chunk.functionCalls ?? []));
      last = chunk;
    }
    expect(called).toEqual([{ name: 'get_weather', args: { city: expect.any(String) } }]);
    const { usage } = await stack.call(last ? idOf(last) : '');
    expect(usage.reasoning).toBe(24);
    expect(usage.output).toBe(24 + (last?.usageMetadata?.candidatesTokenCount ?? 0));
  });

  describe('raises its ApiError', () => {
    async function failure(
      run: Promise<unknown>,
    ): Promise<{ status: number; error: Record<string, unknown> }> {
      const error = await run.then(
        () => new Error('it was answered'),
        (thrown: unknown) => thrown,
      );
      if (!(error instanceof ApiError)) throw error;
      const body = error.message.slice(error.message.indexOf('{'));
      return { status: error.status, error: record(record(JSON.parse(body)).error) };
    }
    const say = (directive: string) => ({ model, contents: `Say it [[${directive}]]` });

    it('of the gateway, with its code', async () => {
      const unknown = connect(`mg_${'a'.repeat(49)}`).generateContent({ model, contents });
      expect(await failure(unknown)).toMatchObject({ status: 401, error: { code: 'invalid_api_key' } });
      for (const one of [
        () => connect(key).generateContent({ model: 'sandbox/none', contents }),
        () => connect(key).generateContentStream({ model: 'sandbox/none', contents }),
        () => connect(key).countTokens({ model: 'sandbox/none', contents }),
      ]) {
        expect(await failure(one())).toMatchObject({ status: 400, error: { code: 'model_not_allowed' } });
      }
      const none = connect(key).get({ model: 'sandbox/none' });
      expect(await failure(none)).toMatchObject({ status: 404, error: { code: 'not_found' } });
    });

    it.each([
      [400, 'INVALID_ARGUMENT'],
      [404, 'NOT_FOUND'],
      [429, 'RESOURCE_EXHAUSTED'],
      [503, 'UNAVAILABLE'],
    ])('of the provider, untouched: %i', async (status, word) => {
      const whole = await failure(connect(key).generateContent(say(`fault/status-${status}`)));
      expect(whole).toMatchObject({ status, error: { code: status, status: word } });
      const stream = await failure(connect(key).generateContentStream(say(`fault/status-${status}`)));
      expect(stream).toEqual(whole);
    });

    it('of the provider inside a stream', async () => {
      const stream = await connect(key).generateContentStream(say('fault/error-event@3'));
      expect(await failure(textOf(stream))).toMatchObject({ status: 500, error: { status: 'INTERNAL' } });
    });
  });

  it.each(['fault/cut@3', 'fault/cut-inside@3', 'fault/reset@3'])(
    'sees that a stream broke: %s',
    async (fault) => {
      const stream = await connect(key).generateContentStream({ model, contents: `Say it [[${fault}]]` });
      await expect(textOf(stream)).rejects.toThrow();
    },
  );
});
