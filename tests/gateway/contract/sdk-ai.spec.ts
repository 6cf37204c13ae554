import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import {
  APICallError,
  generateImage,
  generateText,
  type LanguageModelUsage,
  stepCountIs,
  streamText,
  TypeValidationError,
  tool,
} from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeKey } from '#lib/platform/secrets';
import { closeBalanced } from '#tests/support/books';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

/** Address and key are all that is changed. */
const providers = [
  {
    name: '@ai-sdk/openai, chat',
    operation: 'chat.create',
    streaming: 'chat.create',
    model: (url: string, apiKey: string, id: string) =>
      createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat(id),
  },
  {
    name: '@ai-sdk/openai, responses',
    operation: 'responses.create',
    streaming: 'responses.create',
    model: (url: string, apiKey: string, id: string) => createOpenAI({ baseURL: `${url}/v1`, apiKey })(id),
  },
  {
    name: '@ai-sdk/anthropic',
    operation: 'messages.create',
    streaming: 'messages.create',
    model: (url: string, apiKey: string, id: string) => createAnthropic({ baseURL: `${url}/v1`, apiKey })(id),
  },
  {
    name: '@ai-sdk/google',
    operation: 'content.generate',
    streaming: 'content.stream',
    model: (url: string, apiKey: string, id: string) =>
      createGoogle({ baseURL: `${url}/v1beta`, apiKey })(id),
  },
];

const weather = tool({
  description: 'The weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 21 }),
});
const once = { maxRetries: 0, onError: () => {} };

describe('the AI SDK', () => {
  let stack: Stack;
  let key: string;
  beforeAll(async () => {
    stack = await joinStack();
    const { slug } = await stack.workspace({ rpm: 10_000 });
    key = (await stack.key(slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  it('@ai-sdk/openai generates images, and the row has their usage', async () => {
    const model = createOpenAI({ baseURL: `${stack.url}/v1`, apiKey: key }).image('sandbox/picture');
    const { images, usage, responses } = await generateImage({
      model,
      prompt: 'A calm sea',
      maxRetries: 0,
    });
    expect(images.map(({ mediaType }) => mediaType)).toEqual(['image/png']);
    const call = await stack.call(responses[0]?.headers?.['x-request-id'] ?? '');
    expect(call).toMatchObject({ operation: 'images.generate', usageSource: 'reported', status: 200 });
    expect(call.usage).toMatchObject({ input: usage.inputTokens, output: usage.outputTokens, images: 1 });
  });

  describe.each(providers)('$name', ({ operation, streaming, model }) => {
    const echo = (id = 'sandbox/echo', secret = key) => model(stack.url, secret, id);

    /** The call's row tells the usage that the client was shown. */
    async function expectSame(
      headers: Record<string, string> | undefined,
      usage: LanguageModelUsage,
      named: string,
    ) {
      const call = await stack.call(headers?.['x-request-id'] ?? '');
      expect(call).toMatchObject({ operation: named, status: 200, usageSource: 'reported' });
      const { input, cachedInput, cacheWrite5m, cacheWrite1h, output, reasoning } = call.usage;
      expect(input + cachedInput + cacheWrite5m + cacheWrite1h).toBe(usage.inputTokens);
      expect(output).toBe(usage.outputTokens);
      expect(reasoning).toBe(usage.outputTokenDetails.reasoningTokens ?? 0);
    }

    it('generates text', async () => {
      const { text, finishReason, finalStep } = await generateText({
        ...once,
        model: echo(),
        prompt: 'Hello there',
      });
      expect([text, finishReason]).toEqual([expect.stringContaining('Hello there'), 'stop']);
      await expectSame(finalStep.response.headers, finalStep.usage, operation);
    });

    it('streams the same text', async () => {
      const whole = await generateText({ ...once, model: echo(), prompt: 'Hello there' });
      const stream = streamText({ ...once, model: echo(), prompt: 'Hello there' });
      let text = '';
      for await (const piece of stream.textStream) text += piece;
      expect([text, await stream.finishReason]).toEqual([whole.text, 'stop']);
      const step = await stream.finalStep;
      await expectSame(step.response.headers, step.usage, streaming);
    });

    it('shows the reasoning that came before', async () => {
      const { reasoningText, finalStep } = await generateText({
        ...once,
        model: echo('sandbox/reasoner'),
        prompt: 'Think, then tell [[reasoner?tokens=10&reasoning=24]]',
      });
      expect(finalStep.usage.outputTokens).toBe(34);
      if (operation === 'messages.create') expect(reasoningText).toBeTruthy();
      const call = await stack.call(finalStep.response.headers?.['x-request-id'] ?? '');
      expect(call.usage).toMatchObject({ output: 34, reasoning: 24 });
    });

    it.each(['whole', 'streamed'] as const)('calls a tool and answers with its result, %s', async (shape) => {
      const settings = {
        ...once,
        model: echo(),
        prompt: 'Please use get_weather',
        tools: { get_weather: weather },
        stopWhen: stepCountIs(2),
        prepareStep: ({ stepNumber }: { stepNumber: number }) =>
          stepNumber === 0 ? {} : { toolChoice: 'none' as const },
      };
      const steps = await (shape === 'whole'
        ? (await generateText(settings)).steps
        : streamText(settings).steps);
      expect(steps.map((step) => step.finishReason)).toEqual(['tool-calls', 'stop']);
      expect(steps[0]?.toolResults).toMatchObject([
        { toolName: 'get_weather', output: { city: expect.any(String), degrees: 21 } },
      ]);
      expect(steps[1]?.text).not.toBe('');
      for (const step of steps) {
        await expectSame(step.response.headers, step.usage, shape === 'whole' ? operation : streaming);
      }
    });

    async function errorOf(work: PromiseLike<unknown>): Promise<APICallError> {
      const error = await work.then(
        () => new Error('it was answered'),
        (thrown: unknown) => thrown,
      );
      if (APICallError.isInstance(error)) return error;
      throw error;
    }
    const codeIn = ({ responseBody = '{}' }: APICallError) => JSON.parse(responseBody).error?.code;

    it.each([
      ['an unknown key', 401, 'invalid_api_key', 'sandbox/echo', makeKey(), 'Hello'],
      ['an unknown model', 400, 'model_not_allowed', 'no/such', null, 'Hello'],
      ['no answer', 502, 'upstream_request_failed', 'sandbox/echo', null, '[[fault/close-before-headers]]'],
    ] as const)(
      'raises an error with the gateway’s own code: %s',
      async (_what, status, code, id, secret, prompt) => {
        const error = await errorOf(generateText({ ...once, model: echo(id, secret ?? key), prompt }));
        expect([error.statusCode, codeIn(error), error.isRetryable]).toEqual([status, code, status === 502]);
        expect(error.responseHeaders?.['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      },
    );

    it.each([400, 404, 429, 503])('raises the provider’s own error: %i', async (status) => {
      const prompt = `Say it [[fault/status-${status}]]`;
      const error = await errorOf(generateText({ ...once, model: echo(), prompt }));
      expect([error.statusCode, error.isRetryable]).toEqual([status, status === 429 || status === 503]);
      expect(error.responseBody).toContain('error');
    });

    it.each(['fault/cut@3', 'fault/reset@3'])('is told that a stream broke: %s', async (fault) => {
      const stream = streamText({ ...once, model: echo(), prompt: `Say it [[${fault}]]` });
      const seen: string[] = [];
      const errors: unknown[] = [];
      const read = async () => {
        for await (const part of stream.stream) {
          seen.push(part.type);
          if (part.type === 'error') errors.push(part.error);
        }
      };
      // Told in the stream; where the connection is cut, the reading itself fails.
      await read().catch(() => seen.push('error'));
      expect(seen).toContain('text-delta');
      expect(seen).toContain('error');
      // Its client of messages wants an `error.type`, which no error of the gateway has.
      const odd = errors.filter((error) => TypeValidationError.isInstance(error));
      expect(odd).toHaveLength(operation === 'messages.create' ? 1 : 0);
    });
  });
});
