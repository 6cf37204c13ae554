import { randomUUID } from 'node:crypto';
import type { Asked } from '#tests/support/chat-call';
import { headerOf, requestText, type TalkOptions, talk } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';
import type { EndLine } from '#tools/sandbox/truth-log';

/** The three ways to ask for an answer: whole, SSE, and a stream that is one JSON array. */
export type Shape = 'whole' | 'sse' | 'array';

const methods: Readonly<Record<Shape, string>> = {
  whole: 'generateContent',
  sse: 'streamGenerateContent?alt=sse',
  array: 'streamGenerateContent',
};

type Fields = Readonly<Record<string, unknown>> & {
  readonly model?: string;
  readonly directive?: string;
  readonly say?: string;
};

/** Sends one request of the generate-content family over a raw socket. */
export async function askContent(
  url: string,
  key: string,
  shape: Shape,
  fields: Fields = {},
  options: TalkOptions & {
    readonly headers?: Readonly<Record<string, string>>;
    readonly target?: string;
  } = {},
): Promise<Asked> {
  const mark = randomUUID();
  const { model = 'sandbox/echo', directive, say = 'Say', ...rest } = fields;
  const text = `${say} ${mark} ${directive ? `[[${directive}]]` : ''}`;
  const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text }] }], ...rest });
  const headers = { 'x-goog-api-key': key, 'Content-Type': 'application/json', ...options.headers };
  const target = options.target ?? `/v1beta/models/${model}:${methods[shape]}`;
  const talked = await talk(url, requestText('POST', target, headers, body), options);
  const answer = talked.answers[0] ?? {
    status: 0,
    reason: '',
    headers: [],
    body: Buffer.alloc(0),
    whole: false,
  };
  return { ...talked, body, mark, answer, id: headerOf(answer, 'x-request-id') ?? '' };
}

/** Rates of sandbox/echo and the test models, nano-dollars a token: $1, $0.25 and $4 a million. */
const rates = { input: 1_000n, cached: 250n, output: 4_000n };

/** What the last usage that the provider sent costs, computed apart from the gateway's own code. */
export function fairContentNano(end: EndLine): bigint {
  const usage = record(end.usageReported);
  const cached = count(usage.cachedContentTokenCount);
  return (
    (count(usage.promptTokenCount) - cached + count(usage.toolUsePromptTokenCount)) * rates.input +
    cached * rates.cached +
    (count(usage.candidatesTokenCount) + count(usage.thoughtsTokenCount)) * rates.output
  );
}

function count(value: unknown): bigint {
  return typeof value === 'number' && value > 0 ? BigInt(Math.ceil(value)) : 0n;
}
