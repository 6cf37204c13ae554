import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { GoogleGenAI, Type } from '@google/genai';
import { generateObject, Output, streamText } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { closeBalanced } from '#tests/support/books';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

const model = 'sandbox/echo';
const prompt = 'Plan a day';
const hello = [{ role: 'user' as const, content: prompt }];
const plan = z.object({
  title: z.string(),
  mood: z.enum(['calm', 'busy']),
  steps: z.array(z.object({ what: z.string(), minutes: z.int() })),
  note: z.string().nullable(),
});
const made = {
  title: expect.stringContaining(prompt),
  mood: 'calm',
  steps: [{ what: expect.stringContaining(prompt), minutes: 42 }],
};

describe('structured outputs at the simulated provider', () => {
  let stack: Stack;
  let key: string;
  beforeAll(async () => {
    stack = await joinStack();
    key = (await stack.key((await stack.workspace({ rpm: 10_000 })).slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  describe('by the OpenAI SDK', () => {
    const client = () => new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 0 });

    it('are parsed of a chat, whole and streamed', async () => {
      const asked = { model, messages: hello, response_format: zodResponseFormat(plan, 'plan') };
      const whole = await client().chat.completions.parse(asked);
      expect(whole.choices[0]?.message.parsed).toMatchObject(made);
      const streamed = await client().chat.completions.stream(asked).finalChatCompletion();
      expect(streamed.choices[0]?.message.parsed).toEqual(whole.choices[0]?.message.parsed);
    });

    it('are parsed of a response, whole and streamed', async () => {
      const asked = { model, input: prompt, text: { format: zodTextFormat(plan, 'plan') } };
      const whole = await client().responses.parse(asked);
      expect(whole.output_parsed).toMatchObject(made);
      const streamed = await client().responses.stream(asked).finalResponse();
      expect(streamed.output_parsed).toEqual(whole.output_parsed);
    });

    it('are some object where no schema is given', async () => {
      const asked = { model, messages: hello, response_format: { type: 'json_object' as const } };
      const { choices } = await client().chat.completions.create(asked);
      expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ answer: expect.any(String) });
    });
  });

  it('are parsed of a message by the Anthropic SDK', async () => {
    const client = new Anthropic({ baseURL: stack.url, apiKey: key, maxRetries: 0 });
    const format = zodOutputFormat(plan);
    const { parsed_output } = await client.messages.parse({
      model,
      max_tokens: 500,
      messages: hello,
      output_config: { format },
    });
    expect(parsed_output).toMatchObject(made);
  });

  it('follow both dialects of schemas by the Google SDK, whole and streamed', async () => {
    const { models } = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: stack.url } });
    const responseSchema = {
      type: Type.OBJECT,
      properties: {
        title: { type: Type.STRING },
        mood: { type: Type.STRING, enum: ['calm', 'busy'] },
        steps: {
          type: Type.ARRAY,
          minItems: '1',
          items: {
            type: Type.OBJECT,
            properties: { what: { type: Type.STRING }, minutes: { type: Type.INTEGER } },
          },
        },
      },
      required: ['title', 'mood', 'steps'],
    };
    const asked = { model, contents: prompt };
    const config = { responseMimeType: 'application/json', responseSchema };
    const whole = await models.generateContent({ ...asked, config });
    expect(JSON.parse(whole.text ?? '')).toEqual(made);
    let streamed = '';
    for await (const chunk of await models.generateContentStream({ ...asked, config }))
      streamed += chunk.text ?? '';
    expect(streamed).toBe(whole.text);
    const responseJsonSchema = z.toJSONSchema(plan);
    const other = await models.generateContent({
      ...asked,
      config: { responseMimeType: 'application/json', responseJsonSchema },
    });
    expect(plan.parse(JSON.parse(other.text ?? ''))).toMatchObject(made);
  });

  describe.each([
    ['chat', () => createOpenAI({ baseURL: `${stack.url}/v1`, apiKey: key }).chat(model)],
    ['responses', () => createOpenAI({ baseURL: `${stack.url}/v1`, apiKey: key })(model)],
    ['messages', () => createAnthropic({ baseURL: `${stack.url}/v1`, apiKey: key })(model)],
    ['generate-content', () => createGoogle({ baseURL: `${stack.url}/v1beta`, apiKey: key })(model)],
  ] as const)('by the AI SDK, %s', (_family, modelOf) => {
    it('are generated whole and streamed', async () => {
      const asked = { model: modelOf(), schema: plan, prompt, maxRetries: 0 };
      const whole = await generateObject(asked);
      expect(whole.object).toMatchObject(made);
      const output = Output.object({ schema: plan });
      const stream = streamText({ model: modelOf(), prompt, maxRetries: 0, output });
      await stream.consumeStream();
      expect(await stream.output).toEqual(whole.object);
    });
  });
});
