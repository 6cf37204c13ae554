import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import type { LanguageModelV4, LanguageModelV4Message } from '@ai-sdk/provider';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { carryMark } from '#lib/core/translation/bind-thinking';
import { type Conversation, isUnreadable } from '#lib/core/translation/conversation';
import { findLosses } from '#lib/core/translation/fates';
import { fields as contentFields } from '#lib/core/translation/generate-content/fields';
import { read as readContent } from '#lib/core/translation/generate-content/read';
import { fields as messagesFields } from '#lib/core/translation/messages/fields';
import { read as readMessages } from '#lib/core/translation/messages/read';
import { markThinking } from '#lib/core/translation/thinking-mark';

type Model = (fetch: typeof globalThis.fetch) => LanguageModelV4;

/** The body that a package sends for a conversation, as a client of the protocol would. */
async function bodyOf(model: Model, conversation: Conversation): Promise<Record<string, unknown>> {
  let sent = '{}';
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    sent = String(init?.body);
    return Response.json({}, { status: 400 });
  };
  await expect(model(fetch).doGenerate(conversation)).rejects.toThrow();
  return JSON.parse(sent);
}

const settings = { apiKey: 'k', baseURL: 'http://gateway' };
const protocols = [
  {
    protocol: 'messages' as const,
    model: ((fetch) => createAnthropic({ ...settings, fetch })('claude-sonnet-4-5')) satisfies Model,
    read: readMessages,
    fields: messagesFields,
    signed: (mark: string) => ({ anthropic: { signature: mark } }),
  },
  {
    protocol: 'generate-content' as const,
    model: ((fetch) =>
      createGoogleGenerativeAI({ ...settings, fetch })('gemini-3-pro-preview')) satisfies Model,
    read: readContent,
    fields: contentFields,
    signed: (mark: string) => ({ google: { thoughtSignature: mark } }),
  },
];

const words = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => text.trim() === text);
const text = words.map((one) => ({ type: 'text' as const, text: one }));
const file = fc.constantFrom('image/png', 'application/pdf').map((mediaType) => ({
  type: 'file' as const,
  mediaType,
  data: { type: 'data' as const, data: Buffer.from(mediaType).toString('base64') },
}));
const picture = file.map((one) => ({ ...one, mediaType: 'image/png' }));
const mark = words.map((one) => markThinking({ maker: 'vendor', metadata: { vendor: { signature: one } } }));
const output = fc.oneof(
  words.map((value) => ({ type: 'text' as const, value })),
  words.map((value) => ({ type: 'error-text' as const, value })),
  fc.tuple(text, picture).map((value) => ({ type: 'content' as const, value })),
);
const turn = fc.record({
  user: fc.array(fc.oneof(text, file), { minLength: 1, maxLength: 3 }),
  thought: fc.option(fc.record({ text: words, mark }), { nil: undefined }),
  says: text,
  calls: fc.array(fc.record({ input: fc.dictionary(words, fc.jsonValue()), output }), { maxLength: 3 }),
  answer: text,
});

interface Drawn {
  readonly system: readonly string[];
  readonly turns: readonly (typeof turn extends fc.Arbitrary<infer T> ? T : never)[];
  readonly settings: Omit<Conversation, 'prompt'>;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  system: fc.array(words, { maxLength: 2 }),
  turns: fc.array(turn, { maxLength: 3 }),
  settings: fc.record({
    maxOutputTokens: fc.integer({ min: 1, max: 9_999 }),
    temperature: fc.constantFrom(0, 0.5, 1),
    topK: fc.integer({ min: 1, max: 99 }),
    stopSequences: fc.array(words, { minLength: 1, maxLength: 3 }),
    toolChoice: fc.constantFrom(
      { type: 'auto' as const },
      { type: 'none' as const },
      { type: 'required' as const },
      { type: 'tool' as const, toolName: 'look' },
    ),
    tools: fc.constant([
      {
        type: 'function' as const,
        name: 'look',
        description: 'Looks.',
        inputSchema: { type: 'object' as const },
      },
      {
        type: 'function' as const,
        name: 'find',
        description: 'Finds.',
        inputSchema: { type: 'object' as const },
      },
    ]),
  }),
});

/** @param thinkingAs how the options of a thought with this mark look. */
function promptOf(
  { system, turns }: Drawn,
  thinkingAs: (mark: string) => LanguageModelV4Message['providerOptions'],
): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = system.map((content) => ({ role: 'system', content }));
  for (const [index, { user, thought, says, calls, answer }] of turns.entries()) {
    const idOf = (at: number) => `call_${index}_${at}`;
    const providerOptions = thought && thinkingAs(thought.mark);
    prompt.push(
      { role: 'user', content: user },
      {
        role: 'assistant',
        content: [
          ...(thought && providerOptions
            ? [{ type: 'reasoning' as const, text: thought.text, providerOptions }]
            : []),
          says,
          ...calls.map(({ input }, at) => ({
            type: 'tool-call' as const,
            toolCallId: idOf(at),
            toolName: at % 2 === 0 ? 'look' : 'find',
            input,
          })),
        ],
      },
    );
    if (calls.length === 0) continue;
    prompt.push(
      {
        role: 'tool',
        content: calls.map((call, at) => ({
          type: 'tool-result' as const,
          toolCallId: idOf(at),
          toolName: at % 2 === 0 ? 'look' : 'find',
          output: call.output,
        })),
      },
      { role: 'assistant', content: [answer] },
    );
  }
  return [...prompt, { role: 'user', content: [{ type: 'text', text: 'Go on.' }] }];
}

describe.each(protocols)(
  'a conversation that a client sends as $protocol',
  ({ protocol, model, read, fields, signed }) => {
    it('is read as it was meant, and nothing of it is lost on the way to another protocol', async () => {
      await fc.assert(
        fc.asyncProperty(drawn, async (one) => {
          const body = await bodyOf(model, { ...one.settings, prompt: promptOf(one, signed) });
          const request = read(body);
          if (isUnreadable(request)) throw new Error(request.message);
          expect(request.conversation).toEqual({ ...one.settings, prompt: promptOf(one, carryMark) });
          const target = protocol === 'messages' ? 'generate-content' : 'messages';
          expect(findLosses(body, fields, target)).toEqual({ lost: [], refused: null });
        }),
      );
    });
  },
);
