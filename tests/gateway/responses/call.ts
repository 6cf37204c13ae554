import { randomUUID } from 'node:crypto';
import type { Asked } from '#tests/support/chat-call';
import { headerOf, requestText, type TalkOptions, talk } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';
import type { EndLine } from '#tools/sandbox/truth-log';

type Fields = Readonly<Record<string, unknown>> & { readonly directive?: string; readonly say?: string };

/** Asks for a response over a raw socket. */
export async function askResponses(
  url: string,
  key: string,
  fields: Fields,
  options: TalkOptions & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Asked> {
  const mark = randomUUID();
  const { directive, say = 'Say', ...rest } = fields;
  const input = `${say} ${mark} ${directive ? `[[${directive}]]` : ''}`;
  const body = JSON.stringify({ model: 'sandbox/echo', input, ...rest });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...options.headers };
  const talked = await talk(url, requestText('POST', '/v1/responses', headers, body), options);
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
export function fairResponseNano(end: Pick<EndLine, 'usageReported'>): bigint {
  const usage = record(end.usageReported);
  const cached = count(record(usage.input_tokens_details).cached_tokens);
  const input = count(usage.input_tokens) - cached;
  return input * rates.input + cached * rates.cached + count(usage.output_tokens) * rates.output;
}

function count(value: unknown): bigint {
  return typeof value === 'number' && value > 0 ? BigInt(Math.ceil(value)) : 0n;
}
