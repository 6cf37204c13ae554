import { randomUUID } from 'node:crypto';
import type { Asked } from '#tests/support/chat-call';
import { headerOf, requestText, type TalkOptions, talk } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';
import type { EndLine } from '#tools/sandbox/truth-log';

type Fields = Readonly<Record<string, unknown>> & { readonly directive?: string; readonly say?: string };

/** Sends one messages request over a raw socket. */
export async function askMessages(
  url: string,
  key: string,
  fields: Fields,
  options: TalkOptions & { readonly headers?: Readonly<Record<string, string>>; readonly path?: string } = {},
): Promise<Asked> {
  const mark = randomUUID();
  const { directive, say = 'Say', ...rest } = fields;
  const content = `${say} ${mark} ${directive ? `[[${directive}]]` : ''}`;
  const asked = { model: 'sandbox/echo', max_tokens: 1_024, messages: [{ role: 'user', content }], ...rest };
  const body = JSON.stringify(asked);
  const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01', ...options.headers };
  const talked = await talk(url, requestText('POST', options.path ?? '/v1/messages', headers, body), options);
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

/** What the usage that the provider reported costs, computed apart from the gateway's own code. */
export function fairMessagesNano(end: EndLine): bigint {
  const usage = record(end.usageReported);
  const written = count(usage.cache_creation_input_tokens);
  const cached = count(usage.cache_read_input_tokens);
  return (
    (count(usage.input_tokens) + written) * rates.input +
    cached * rates.cached +
    count(usage.output_tokens) * rates.output
  );
}

/** A stream that broke: the input that its start told, and the output that came, a token for four bytes. */
export function brokenMessagesNano(end: EndLine, outputBytes: number): bigint {
  const usage = record(end.usageReported);
  return count(usage.input_tokens) * rates.input + BigInt(Math.ceil(outputBytes / 4)) * rates.output;
}

function count(value: unknown): bigint {
  return typeof value === 'number' && value > 0 ? BigInt(Math.ceil(value)) : 0n;
}
