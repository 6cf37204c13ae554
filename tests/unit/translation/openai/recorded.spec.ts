import type OpenAI from 'openai';
import type { Response } from 'openai/resources/responses/responses';
import { describe, expect, test } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { chat } from '#lib/core/families/chat';
import type { Ask, Family } from '#lib/core/families/family';
import { generateContent } from '#lib/core/families/generate-content';
import { messages } from '#lib/core/families/messages';
import { responses } from '#lib/core/families/responses';
import { scan } from '#lib/core/families/scan';
import type { UsageReport } from '#lib/core/metering/usage';
import { read as readChat } from '#lib/core/translation/chat/read';
import * as chatAnswers from '#lib/core/translation/chat/write';
import type { ProtocolTranslation, TextProtocol } from '#lib/core/translation/conversation';
import { read as readResponses } from '#lib/core/translation/responses/read';
import * as responsesAnswers from '#lib/core/translation/responses/write';
import type { Recording } from '#tests/unit/relay/streams';
import { makeFacts, writeAll } from '#tests/unit/translation/answers';
import { clientOf, readStream } from '#tests/unit/translation/openai/streams';
import {
  answersOfOthers,
  readWithPackage,
  reasonFor,
  type Said,
  saidIn,
} from '#tests/unit/translation/recorded';

const families: Readonly<Record<TextProtocol, Family>> = {
  chat,
  responses,
  messages,
  'generate-content': generateContent,
};

function askOf(family: Family): Ask {
  const [operation] = family.operations;
  if (!operation) throw new Error('a family has operations');
  const scanned = scan(Buffer.from('{"model":"m","max_tokens":9}'), operation.fields ?? {});
  if ('fault' in scanned) throw new Error(scanned.fault);
  const ask = family.readAsk({ operation, params: { model: 'm' }, scan: scanned });
  if (isRefusal(ask)) throw new Error(ask.message);
  return ask;
}

interface Figures {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

function figuresOf(report: UsageReport | null): Figures | null {
  if (!report) return null;
  const { input, cachedInput, cacheWrite5m, cacheWrite1h, output, reasoning } = report.usage;
  const cacheWrite = cacheWrite5m + cacheWrite1h;
  return { input: input + cachedInput + cacheWrite, cacheRead: cachedInput, cacheWrite, output, reasoning };
}

/** The tokens of a recording as its family's own reader reads them. */
function recordedFigures(protocol: TextProtocol, { body, stream }: Recording): Figures | null {
  const family = families[protocol];
  const text = body.toString().replaceAll('\r\n', '\n');
  if (!stream) return figuresOf(family.readUsage(askOf(family), JSON.parse(text)));
  const events: unknown[] = text.trimStart().startsWith('[') ? JSON.parse(text) : [];
  const frames = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') || text;
  return figuresOf(readStream(family.streamReader(askOf(family)), frames).report());
}

type Read = Said & { readonly tokens: Figures | null };

/** A protocol of ours, and how the official client and the family's own reader read what we wrote. */
interface Client {
  readonly protocol: TextProtocol;
  readonly translation: ProtocolTranslation;
  readonly streamed: (text: string) => Promise<Said>;
  readonly whole: (body: string) => Promise<Said>;
}

const parsed = (json: string): unknown => JSON.parse(json);

function saidByResponse({ output, output_text, incomplete_details, status }: Response): Said {
  return {
    text: output_text,
    calls: output.flatMap((item) =>
      item.type === 'function_call' ? { name: item.name, args: parsed(item.arguments) } : [],
    ),
    reason: reasonFor(incomplete_details?.reason ?? status),
  };
}

function saidByCompletion({ choices: [choice] }: OpenAI.ChatCompletion): Said {
  return {
    text: choice?.message.content ?? '',
    calls: (choice?.message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? { name: call.function.name, args: parsed(call.function.arguments) } : [],
    ),
    reason: reasonFor(choice?.finish_reason),
  };
}

const clients: readonly Client[] = [
  {
    protocol: 'chat',
    translation: { read: readChat, ...chatAnswers },
    streamed: async (text) => {
      const stream = clientOf(text, 999).chat.completions.stream({ model: 'm', messages: [] });
      return saidByCompletion(await stream.finalChatCompletion());
    },
    whole: async (body) => {
      const client = clientOf(body, 9_999, 'application/json');
      return saidByCompletion(await client.chat.completions.create({ model: 'm', messages: [] }));
    },
  },
  {
    protocol: 'responses',
    translation: { read: readResponses, ...responsesAnswers },
    streamed: async (text) => {
      const stream = clientOf(text, 999).responses.stream({ model: 'm', input: 'x' });
      return saidByResponse(await stream.finalResponse());
    },
    whole: async (body) => {
      const client = clientOf(body, 9_999, 'application/json');
      return saidByResponse(await client.responses.create({ model: 'm', input: 'x' }));
    },
  },
];

/**
 * Recordings that come out otherwise than they say of themselves, or not at all, and why. None of it is the writers'
 * work: each test below also fails if one of these comes out the same.
 */
const differing: Readonly<Record<string, string>> = {
  'openai-openapi-examples/responses/responses_compact.json': 'it is no answer, but a compacted conversation',
  'vercel-ai/responses/openai__openai-custom-tool.1.chunks.txt':
    'it calls a tool of plain text, which a translated request declares as a function',
  'vercel-ai/responses/openai__openai-local-shell-tool.1.chunks.txt':
    'it calls a tool that only OpenAI has, which a translated request never declares',
  'vercel-ai/responses/openai__openai-error.1.chunks.txt': 'it is an error before the answer',
  'vercel-ai/responses/openai__openai-phase.1.chunks.txt': 'most of its deltas were cut out of the recording',
  'vercel-ai/responses-compat/xai__xai-code-execution-tool.1.json': "the package refuses xAI's calls of code",
  'vercel-ai/responses-compat/xai__xai-file-search-tool.1.json':
    "the package refuses xAI's searches in files",
  'vercel-ai/messages/anthropic__anthropic-fallback.chunks.txt':
    'another model answered, and its tokens are counted apart',
  'vercel-ai/messages/anthropic__spliced-message-start.chunks.txt':
    'it is two streams in one, which the package refuses',
  'pydantic-ai/chat-compat/test_groq__test_tool_use_failed_error_streaming_with_text.01.groq.resp.sse':
    'it ends with an error',
  'ruby_llm/chat-compat/chat_audio_models_mistral_voxtral-small-latest_can_understand_mp3_audio.01.mistral.resp.json':
    'the package does not count the sound that Mistral counts beside the prompt',
  'vercel-ai/chat-compat/mistral__mistral-tool-call.chunks.txt': 'the package refuses calls without an index',
  'pydantic-ai/chat-compat/test_snowflake__test_snowflake_model_simple.01.myorg-myaccount-snowflakecomputing-com.resp.json':
    'it does not say why it ended, which OpenAI always does',
  'vercel-ai/chat-compat/openai-compatible__xai-text.json':
    'the package does not count the thinking that xAI counts beside the output',
  'vercel-ai/chat-compat/openai-compatible__xai-tool-call.chunks.txt':
    'the package does not count the thinking that xAI counts beside the output',
  'pydantic-ai/chat-compat/test_openrouter__test_openrouter_stream_error.01.openrouter.resp.sse':
    'it reports more thinking than output',
};

for (const client of clients) {
  const { protocol: own, translation } = client;
  const family = families[own];
  const facts = makeFacts({ echo: { includeUsage: true } });
  const cases = answersOfOthers(own);

  async function readBoth(protocol: TextProtocol, recording: Recording): Promise<Read[]> {
    const { parts, whole } = await readWithPackage(protocol, recording);
    const text = writeAll(translation.createWriter(facts), parts);
    const body = translation.writeWhole(whole, facts);
    return [
      {
        ...(await client.streamed(text)),
        tokens: figuresOf(readStream(family.streamReader(askOf(family)), text).report()),
      },
      {
        ...(await client.whole(JSON.stringify(body))),
        tokens: figuresOf(family.readUsage(askOf(family), body)),
      },
    ];
  }

  if (cases.length === 0)
    test.skip(`recorded answers are not written as ${own}: ../shared/fixtures is not here`, () => {});
  describe.skipIf(cases.length === 0)(`recorded answers of other protocols, written as ${own}`, () => {
    for (const { protocol, recording } of cases) {
      const { file } = recording;
      const expected = () => {
        const said: Read = { ...saidIn(protocol, recording), tokens: recordedFigures(protocol, recording) };
        return [said, said];
      };
      if (file in differing) {
        test(`${file} comes out otherwise, because ${differing[file]}.`, async () => {
          const read = await readBoth(protocol, recording).catch(() => null);
          expect(read).not.toEqual(expected());
        });
      } else {
        test(`${file} has the same text, calls, end and tokens, streamed and in one piece.`, async () => {
          expect(await readBoth(protocol, recording)).toEqual(expected());
        });
      }
    }
  });
}
