import Anthropic from '@anthropic-ai/sdk';
import type { Message } from '@anthropic-ai/sdk/resources/messages';
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '#lib/core/families/reading/json';
import type { ProtocolTranslation, TextProtocol } from '#lib/core/translation/conversation';
import { read as readContent } from '#lib/core/translation/generate-content/read';
import * as generateContent from '#lib/core/translation/generate-content/write';
import { read as readMessages } from '#lib/core/translation/messages/read';
import * as messages from '#lib/core/translation/messages/write';
import type { Recording } from '#tests/unit/relay/streams';
import { answering, makeFacts, writeAll } from '#tests/unit/translation/answers';
import {
  answersOfOthers,
  readWithPackage,
  reasonFor,
  type Said,
  saidIn,
  type Tokens,
  tokensIn,
} from '#tests/unit/translation/recorded';

type Read = Said & { readonly tokens: Tokens };

/** A protocol of ours, and how its official SDK reads what we wrote. */
interface Client {
  readonly protocol: TextProtocol;
  readonly translation: ProtocolTranslation;
  readonly readStream: (stream: string) => Promise<Read>;
  readonly readWhole: (answer: JsonObject) => Promise<Read>;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

const anthropic = (body: string, type: string) =>
  new Anthropic({ apiKey: 'k', maxRetries: 0, fetch: answering(body, type, 999) }).messages;
const asked = { model: 'm', max_tokens: 9, messages: [] };

function readMessage({ content, stop_reason, usage }: Message): Read {
  const cacheRead = usage.cache_read_input_tokens ?? 0;
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ name: block.name, args: block.input }] : [],
    ),
    reason: reasonFor(stop_reason),
    tokens: {
      input: usage.input_tokens + cacheRead + (usage.cache_creation_input_tokens ?? 0),
      cacheRead,
      output: usage.output_tokens,
    },
  };
}

const google = () => new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: 'http://gateway' } }).models;
const contents = { model: 'm', contents: 'x' };

function readChunks(chunks: readonly GenerateContentResponse[]): Read {
  const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
  const last = chunks.at(-1);
  const usage = last?.usageMetadata;
  return {
    text: parts.map(({ text, thought }) => (thought ? '' : (text ?? ''))).join(''),
    calls: parts.flatMap(({ functionCall: call }) =>
      call ? [{ name: call.name ?? '', args: call.args }] : [],
    ),
    reason: reasonFor(last?.candidates?.[0]?.finishReason),
    tokens: {
      input: usage?.promptTokenCount ?? 0,
      cacheRead: usage?.cachedContentTokenCount ?? 0,
      output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
    },
  };
}

const clients: readonly Client[] = [
  {
    protocol: 'messages',
    translation: { read: readMessages, ...messages },
    readStream: async (stream) =>
      readMessage(await anthropic(stream, 'text/event-stream').stream(asked).finalMessage()),
    readWhole: async (answer) =>
      readMessage(await anthropic(JSON.stringify(answer), 'application/json').create(asked)),
  },
  {
    protocol: 'generate-content',
    translation: { read: readContent, ...generateContent },
    readStream: async (stream) => {
      vi.stubGlobal('fetch', answering(stream, 'text/event-stream', 999));
      const chunks: GenerateContentResponse[] = [];
      for await (const chunk of await google().generateContentStream(contents)) chunks.push(chunk);
      return readChunks(chunks);
    },
    readWhole: async (answer) => {
      vi.stubGlobal('fetch', answering(JSON.stringify(answer), 'application/json', 999));
      return readChunks([await google().generateContent(contents)]);
    },
  },
];

/** The AI SDK as a client. */
async function readWithAiSdk(
  protocol: TextProtocol,
  written: Recording,
): Promise<Pick<Said, 'text' | 'calls'>> {
  const { content } = (await readWithPackage(protocol, written)).whole;
  return {
    text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    calls: content.flatMap((part) =>
      part.type === 'tool-call' && part.providerExecuted !== true
        ? [{ name: part.toolName, args: JSON.parse(part.input) }]
        : [],
    ),
  };
}

/** Recordings that differ, and why; a test says when one no longer does. */
const different: Readonly<Record<string, string>> = {
  'pydantic-ai/chat-compat/test_groq__test_tool_use_failed_error_streaming_with_text.01.groq.resp.sse':
    'ends in an error event of the provider, which the client gets as an error',
  'vercel-ai/chat-compat/mistral__mistral-tool-call.chunks.txt':
    'has calls without an index, which the package of OpenAI refuses',
  'openai-openapi-examples/responses/responses_compact.json': 'is a compacted conversation, not an answer',
  'vercel-ai/responses/openai__openai-custom-tool.1.chunks.txt':
    'calls a tool without a schema, which no client of the other protocols can declare',
  'vercel-ai/responses/openai__openai-error.1.chunks.txt': 'is an error before the answer',
  'vercel-ai/responses/openai__openai-local-shell-tool.1.chunks.txt':
    'calls a tool of OpenAI, which no client of the other protocols can declare',
  'vercel-ai/responses/openai__openai-phase.1.chunks.txt': 'was shortened: its deltas are not the whole text',
  'vercel-ai/responses-compat/xai__xai-code-execution-tool.1.json':
    'has items of xAI, which the package of OpenAI refuses',
  'vercel-ai/responses-compat/xai__xai-file-search-tool.1.json':
    'has items of xAI, which the package of OpenAI refuses',
  'vercel-ai/messages/anthropic__spliced-message-start.chunks.txt':
    'has a second message inside the first, at which the package stops',
};

describe.each(clients)('answers that providers gave, written as $protocol', (client) => {
  const { translation, readStream, readWhole } = client;
  const recorded = answersOfOthers(client.protocol);

  async function compare({ protocol, recording }: (typeof recorded)[number]): Promise<void> {
    const { parts, whole } = await readWithPackage(protocol, recording);
    const facts = makeFacts({ echo: { thinking: true, thoughts: true } });
    const said = saidIn(protocol, recording);
    // The messages protocol has no stop reason for an end without one.
    const reason = client.protocol === 'messages' && said.reason === 'other' ? 'end' : said.reason;
    const expected = { ...said, reason, tokens: tokensIn(recording) };
    const stream = writeAll(translation.createWriter(facts), parts);
    expect(await readStream(stream)).toEqual(expected);
    expect(
      await readWithAiSdk(client.protocol, { ...recording, body: Buffer.from(stream), stream: true }),
    ).toEqual({
      text: said.text,
      calls: said.calls,
    });
    expect(await readWhole(translation.writeWhole(whole, facts))).toEqual(expected);
  }

  it.skipIf(recorded.length === 0)(
    'have the text, calls, stop reason and tokens that were recorded',
    async () => {
      const same = recorded.filter(({ recording }) => !(recording.file in different));
      expect(same.length).toBeGreaterThan(80);
      for (const one of same) {
        await compare(one).catch((error) => {
          throw new Error(one.recording.file, { cause: error });
        });
      }
    },
  );

  it.each(recorded.filter(({ recording }) => recording.file in different))(
    'differ from the recording if it is listed as different: $recording.file',
    async (one) => {
      await expect(compare(one)).rejects.toThrow();
    },
  );
});
