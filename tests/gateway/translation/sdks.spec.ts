import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { GoogleGenAI } from '@google/genai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { closeBalanced } from '#tests/support/books';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

const place = z.object({ city: z.string(), degrees: z.number() });
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const;
const protocols = ['chat', 'responses', 'messages', 'generate-content'] as const;
const othersThan = (own: (typeof protocols)[number]) => protocols.filter((one) => one !== own);

describe('official SDKs on models of other protocols', () => {
  let stack: Stack;
  let apiKey = '';
  beforeAll(async () => {
    stack = await joinStack();
    const { slug } = await stack.workspace({ credit: '1000', rpm: null, tpm: null, concurrency: null });
    apiKey = (await stack.key(slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });
  const openai = () => new OpenAI({ baseURL: `${stack.url}/v1`, apiKey, maxRetries: 0 });

  describe.each(othersThan('chat'))('openai, chat completions, on a model of %s', (to) => {
    const model = `sandbox/only-${to}`;

    it('its streaming helper puts the answer together', async () => {
      const stream = openai().chat.completions.stream({
        model,
        messages: [{ role: 'user', content: 'A calm sea' }],
        stream_options: { include_usage: true },
      });
      let text = '';
      stream.on('content', (delta) => {
        text += delta;
      });
      const { choices, usage } = await stream.finalChatCompletion();
      expect(choices[0]?.message.content).toBe(text);
      expect(text).toContain('A calm sea');
      expect(choices[0]?.finish_reason).toBe('stop');
      expect(usage?.total_tokens).toBeGreaterThan(10);
    });

    it('its tool runner calls a function and sends the result', async () => {
      const cities: string[] = [];
      const runner = openai().chat.completions.runTools(
        {
          model,
          messages: [{ role: 'user', content: 'Please use get_weather' }],
          tools: [
            {
              type: 'function',
              function: {
                name: 'get_weather',
                description: 'The weather of a city',
                parameters: { ...parameters, required: ['city'] },
                function: (args: string) => {
                  cities.push(args);
                  return '21 degrees';
                },
              },
            },
          ],
        },
        { maxChatCompletions: 2 },
      );
      await runner.done();
      expect(cities.length).toBeGreaterThan(0);
      expect(runner.messages.filter(({ role }) => role === 'tool').length).toBeGreaterThan(0);
    });

    it('it parses an answer of a schema', async () => {
      const { choices } = await openai().chat.completions.parse({
        model,
        messages: [{ role: 'user', content: 'Where?' }],
        response_format: zodResponseFormat(place, 'place'),
      });
      expect(choices[0]?.message.parsed).toEqual({ city: expect.any(String), degrees: expect.any(Number) });
    });
  });

  describe.each(othersThan('responses'))('openai, responses, on a model of %s', (to) => {
    const model = `sandbox/only-${to}`;

    it('its streaming helper puts the answer together', async () => {
      const stream = openai().responses.stream({ model, input: 'A calm sea', store: false });
      let text = '';
      for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta;
      const response = await stream.finalResponse();
      expect(response.output_text).toBe(text);
      expect(response.status).toBe('completed');
      expect(response.usage?.total_tokens).toBeGreaterThan(10);
    });

    it('it parses an answer of a schema', async () => {
      const { output_parsed } = await openai().responses.parse({
        model,
        input: 'Where?',
        store: false,
        text: { format: zodTextFormat(place, 'place') },
      });
      expect(output_parsed).toEqual({ city: expect.any(String), degrees: expect.any(Number) });
    });
  });

  describe.each(othersThan('messages'))('@anthropic-ai/sdk on a model of %s', (to) => {
    const model = `sandbox/only-${to}`;
    const anthropic = () => new Anthropic({ baseURL: stack.url, apiKey, maxRetries: 0 });

    it('its streaming helper puts the answer together', async () => {
      const stream = anthropic().messages.stream({
        model,
        max_tokens: 500,
        messages: [{ role: 'user', content: 'A calm sea' }],
      });
      let text = '';
      stream.on('text', (delta) => {
        text += delta;
      });
      const message = await stream.finalMessage();
      expect(message.stop_reason).toBe('end_turn');
      expect(message.content.filter((block) => block.type === 'text').map((block) => block.text)).toEqual([
        text,
      ]);
      expect(message.usage.input_tokens).toBeGreaterThan(0);
    });

    it('its tool runner goes on without a thread (contract: request/error-shape)', async () => {
      const cities: string[] = [];
      const runner = anthropic().beta.messages.toolRunner({
        model,
        max_tokens: 500,
        max_iterations: 2,
        messages: [{ role: 'user', content: 'Please use get_weather' }],
        tools: [
          betaTool({
            name: 'get_weather',
            description: 'The weather of a city',
            inputSchema: parameters,
            run: ({ city }) => {
              cities.push(city);
              return '21 degrees';
            },
          }),
        ],
      });
      await runner.runUntilDone();
      expect(cities.length).toBeGreaterThan(0);
    });
  });

  describe.each(othersThan('generate-content'))('@google/genai on a model of %s', (to) => {
    const model = `sandbox/only-${to}`;
    const google = () => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: stack.url } });

    it('streams the same text as the whole answer has', async () => {
      const asked = { model, contents: 'A calm sea' };
      const whole = await google().models.generateContent(asked);
      let text = '';
      for await (const chunk of await google().models.generateContentStream(asked)) text += chunk.text ?? '';
      expect(text).toBe(whole.text);
      expect(whole.usageMetadata?.totalTokenCount).toBeGreaterThan(10);
    });

    it('gets the call of a function', async () => {
      const { functionCalls } = await google().models.generateContent({
        model,
        contents: 'Please use get_weather',
        config: {
          tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: parameters }] }],
        },
      });
      expect(functionCalls).toMatchObject([{ name: 'get_weather', args: { city: expect.any(String) } }]);
    });
  });

  const clients = {
    chat: (id: string) => createOpenAI({ baseURL: `${stack.url}/v1`, apiKey }).chat(id),
    responses: (id: string) => createOpenAI({ baseURL: `${stack.url}/v1`, apiKey })(id),
    messages: (id: string) => createAnthropic({ baseURL: `${stack.url}/v1`, apiKey })(id),
    'generate-content': (id: string) => createGoogle({ baseURL: `${stack.url}/v1beta`, apiKey })(id),
  };
  const pairs = protocols.flatMap((from) => othersThan(from).map((to) => ({ from, to })));
  describe.each(pairs)('the AI SDK as a client of $from on a model of $to', ({ from, to }) => {
    it.each(['whole', 'streamed'])('calls a tool and answers with its result, %s', async (shape) => {
      const settings = {
        maxRetries: 0,
        onError: () => {},
        model: clients[from](`sandbox/only-${to}`),
        prompt: 'Please use get_weather',
        tools: {
          get_weather: tool({
            description: 'The weather of a city',
            inputSchema: z.object({ city: z.string() }),
            execute: async ({ city }) => ({ city, degrees: 21 }),
          }),
        },
        stopWhen: stepCountIs(2),
        prepareStep: ({ stepNumber }: { stepNumber: number }) =>
          stepNumber === 0 ? {} : { toolChoice: 'none' as const },
        providerOptions: { openai: { store: false } },
      };
      const steps = await (shape === 'whole'
        ? (await generateText(settings)).steps
        : streamText(settings).steps);
      expect(steps.map((step) => step.finishReason)).toEqual(['tool-calls', 'stop']);
      expect(steps[0]?.toolResults).toMatchObject([
        { toolName: 'get_weather', output: { city: expect.any(String), degrees: 21 } },
      ]);
      expect(steps[1]?.text).not.toBe('');
    });
  });
});
