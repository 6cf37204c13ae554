import { randomUUID } from 'node:crypto';
import { record } from '#lib/sandbox/content/tool-call';
import type { EndLine } from '#lib/sandbox/truth-log';
import type { Asked } from '#tests/support/chat-call';
import { headerOf, requestText, type TalkOptions, talk } from '#tests/support/wire';

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
  const answer = talked.answers[0] ?? { status: 0, headers: [], body: Buffer.alloc(0), whole: false };
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

/** UTF-8 bytes of generated text in a whole answer or a stream; of what cannot be read, all bytes. */
export function outputBytesOf(text: string): number {
  if (!text.includes('data: {')) {
    const content = isJson(text) ? [record(JSON.parse(text)).content].flat().map(record) : null;
    if (content === null) return Buffer.byteLength(text);
    return content.reduce((sum, { text: said }) => sum + Buffer.byteLength(String(said ?? '')), 0);
  }
  let bytes = 0;
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (!line.startsWith('data: {') || !isJson(line.slice(6))) continue;
    const { text: said } = record(record(JSON.parse(line.slice(6))).delta);
    if (typeof said === 'string') bytes += Buffer.byteLength(said);
  }
  return bytes;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function count(value: unknown): bigint {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? BigInt(value) : 0n;
}
