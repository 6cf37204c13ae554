import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { record } from '#lib/sandbox/content/tool-call';
import { droppedHeaders } from '#tests/gateway/known-differences';
import { costOf, estimatedNano, expectBalancedBooks, fairNano, linesOf } from '#tests/support/books';
import { askChat, seenOf } from '#tests/support/chat-call';
import { type Stack, startStack } from '#tests/support/stack';
import type { Wire } from '#tests/support/wire';

/** What may stand in the head of an answer: an allow-list, as the gateway's own is. */
const allowedHeaders = new Set(
  `content-type content-length transfer-encoding content-encoding cache-control connection keep-alive date vary
  retry-after x-should-retry x-accel-buffering openai-processing-ms openai-version
  x-request-id request-id x-upstream-request-id x-answered-model x-answered-provider x-attempts
  x-ratelimit-limit-requests x-ratelimit-remaining-requests x-ratelimit-limit-tokens x-ratelimit-remaining-tokens`.split(
    /\s+/,
  ),
);

interface Case {
  /** The provider's behaviour. */
  readonly directive: string;
  readonly status?: number;
  /** The client gets: all that was sent; what came before the break; nothing of it. */
  readonly relayed?: 'all' | 'part';
  /** The body's framing tells a client that it was cut. */
  readonly torn?: boolean;
  readonly charged?: 'reported' | 'estimated' | 'none';
  readonly end?: string;
  readonly flags?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

const ok: readonly Case[] = [
  { directive: 'echo?tokens=30' },
  { directive: 'reasoner?tokens=10&reasoning=24' },
  { directive: 'fault/slow-first-byte?ms=200' },
  { directive: 'fault/slow-bytes?size=7' },
  { directive: 'fault/moderation-chunk' },
  { directive: 'fault/no-usage', charged: 'estimated' },
  { directive: 'fault/null-usage', charged: 'estimated' },
  { directive: 'fault/negative-usage', flags: ['usage_negative'] },
  { directive: 'fault/fraction-usage', flags: ['usage_not_integer'] },
  { directive: 'fault/x-groq-usage' },
  // Only the node lane can say so: Next drops the header.
  { directive: 'fault/gzip', charged: 'estimated', headers: { 'content-encoding': 'gzip' } },
  { directive: 'fault/garbage', charged: 'estimated' },
  { directive: 'fault/garbage?kind=json', charged: 'estimated' },
];
const refused: readonly Case[] = [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529].map(
  (status) => ({ directive: `fault/status-${status}`, status, charged: 'none' }),
);
const others: readonly Case[] = [
  {
    directive: 'fault/status-429?retry_after=2',
    status: 429,
    charged: 'none',
    headers: { 'retry-after': '2' },
  },
  { directive: 'fault/invalid-key-400', status: 400, charged: 'none' },
  { directive: 'fault/redirect', status: 302, charged: 'none' },
];
const broken = { relayed: 'part', end: 'upstream_error', charged: 'estimated' } as const;

const wholeOnly: readonly Case[] = [
  { directive: 'fault/cut', ...broken, torn: true },
  { directive: 'fault/reset@3', ...broken, torn: true },
  { directive: 'fault/wrong-length?by=10', ...broken, torn: true, charged: 'reported' },
  { directive: 'fault/end', charged: 'estimated' },
  { directive: 'fault/error-body', charged: 'none', end: 'upstream_error' },
];
const streamOnly: readonly Case[] = [
  { directive: 'fault/cut@3', ...broken },
  { directive: 'fault/cut-inside@3', ...broken },
  { directive: 'fault/reset@3', ...broken },
  { directive: 'fault/end@3', charged: 'estimated' },
  { directive: 'fault/error-event@3', charged: 'estimated', end: 'upstream_error' },
  { directive: 'fault/error-event@0', charged: 'none', end: 'upstream_error' },
  { directive: 'fault/malformed-event@2' },
  { directive: 'fault/crlf' },
  { directive: 'fault/cr' },
  { directive: 'fault/comments' },
  { directive: 'fault/done-twice' },
  { directive: 'fault/trailing-bytes' },
  { directive: 'fault/usage-twice' },
  { directive: 'fault/usage-in-finish-chunk' },
  { directive: 'fault/usage-every-chunk' },
];
const cases = {
  whole: [...ok, ...refused, ...others, ...wholeOnly],
  stream: [...ok, ...refused, ...others, ...streamOnly],
};

describe.each(['node', 'web'] as const)('an answer of the chat family over the %s lane', (lane) => {
  let stack: Stack;
  let workspace: string;
  beforeAll(async () => {
    stack = await startStack({ lane });
    workspace = (await stack.workspace({ credit: '5000', rpm: 10_000 })).slug;
  });
  afterAll(async () => {
    await expectBalancedBooks(stack).finally(() => stack.close());
    expect(stack.log()).toBe('');
  });

  async function check(shape: 'whole' | 'stream', asksUsage: boolean, wanted: Case): Promise<void> {
    const { key } = await stack.key(workspace, { concurrency: 1 });
    const stream =
      shape === 'stream'
        ? { stream: true, ...(asksUsage ? { stream_options: { include_usage: true } } : {}) }
        : {};
    const asked = await askChat(stack.url, key, { ...stream, directive: wanted.directive });
    const { answer } = asked;
    const seen = await seenOf(stack, asked);
    const end = await stack.sandbox.ended(seen.id);
    const sent = Buffer.from(end.sent ?? '', 'base64');
    const injected = shape === 'stream' && !asksUsage;
    const call = await stack.call(asked.id);

    expect(answer.status).toBe(wanted.status ?? 200);
    expectAllowedHead(answer, stack.sandbox.key);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-upstream-request-id': seen.id,
      'x-answered-model': 'sandbox/echo',
      'x-answered-provider': 'sandbox',
      'x-attempts': '1',
      'x-ratelimit-limit-requests': '10000',
      ...withoutDropped(lane, wanted.headers),
    });
    expect(answer.whole).toBe(!wanted.torn);
    expectRelayed(answer.body.toString(), withoutUsageEvent(sent.toString(), injected), wanted, shape);

    const charged = wanted.charged ?? 'reported';
    expect(call).toMatchObject({
      status: answer.status,
      errorCode: null,
      streamed: shape === 'stream',
      endReason: wanted.end ?? 'completed',
      usageSource: charged,
      requestedModel: 'sandbox/echo',
      answeringModel: 'sandbox/echo',
      provider: 'sandbox',
      flags: expect.arrayContaining([...(wanted.flags ?? [])]),
      attempts: [{ provider: 'sandbox', status: answer.status, upstreamRequestId: seen.id }],
    });
    const owed =
      charged === 'reported'
        ? fairNano(end)
        : charged === 'none'
          ? 0n
          : estimatedNano(asked.body.length, outputOf(answer));
    expect(costOf(call)).toBe(owed);
    expect(await linesOf(stack, asked.id)).toEqual(owed === 0n ? [] : [-owed]);
    const next = await askChat(stack.url, key, {});
    expect(next.answer.status, 'the slot is free').toBe(200);
  }

  describe.concurrent('whole', () => {
    it.each(cases.whole)('passes and is charged as it was sent: $directive', (wanted) =>
      check('whole', false, wanted),
    );
  });
  describe.concurrent('streamed, with the usage asked for by the gateway', () => {
    it.each(cases.stream)('passes but for that one event: $directive', (wanted) =>
      check('stream', false, wanted),
    );
  });
  describe.concurrent('streamed, with the usage asked for by the client', () => {
    it.each(cases.stream)('passes byte for byte: $directive', (wanted) => check('stream', true, wanted));
  });
});

function withoutDropped(lane: 'node' | 'web', headers: Case['headers'] = {}): Case['headers'] {
  const kept = Object.entries(headers).filter(([name]) => lane === 'node' || !droppedHeaders.includes(name));
  return Object.fromEntries(kept);
}

/** No header that is not known to be harmless, and no trace of the operator's credential. */
function expectAllowedHead(answer: Wire, secret: string): void {
  const names = answer.headers.map(([name]) => name);
  expect(names.filter((name) => !allowedHeaders.has(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  expect(JSON.stringify(answer.headers)).not.toContain(secret);
}

function expectRelayed(got: string, sent: string, wanted: Case, shape: 'whole' | 'stream'): void {
  if ((wanted.relayed ?? 'all') === 'all') {
    expect(got).toBe(sent);
    return;
  }
  if (shape === 'whole') {
    expect(got.length).toBeGreaterThan(0);
    expect(sent.startsWith(got)).toBe(true);
    return;
  }
  const at = got.lastIndexOf('data: {"error"');
  const before = got.slice(0, at);
  expect(
    sent.startsWith(before.endsWith('\n\n') && !sent.startsWith(before) ? before.slice(0, -2) : before),
  ).toBe(true);
  expect(before === '' || before.endsWith('\n\n')).toBe(true);
  const frame = got.slice(at);
  expect(frame.endsWith('\n\n')).toBe(true);
  const told = record(record(JSON.parse(frame.slice(6))).error);
  expect(Object.keys(told)).toEqual(['message', 'code']);
  expect(told.code).toBe('upstream_request_failed');
}

/** Takes out the first event with usage and without choices, as decisions §4 defines it. */
function withoutUsageEvent(sent: string, injected: boolean): string {
  if (!injected) return sent;
  const newline = /\r\n\r\n|\r\r|\n\n/.exec(sent)?.[0] ?? '\n\n';
  const events = sent.split(newline);
  const at = events.findIndex((event) => {
    const data = event.split(/\r\n|\r|\n/).find((line) => line.startsWith('data: {'));
    if (!data || !isJson(data.slice(6))) return false;
    const chunk = record(JSON.parse(data.slice(6)));
    return Array.isArray(chunk.choices) && chunk.choices.length === 0 && chunk.usage && !chunk.moderation;
  });
  return at < 0 ? sent : events.toSpliced(at, 1).join(newline);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** UTF-8 bytes of generated text in a stream. */
function contentBytes(text: string): number {
  let bytes = 0;
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (!line.startsWith('data: {') || !isJson(line.slice(6))) continue;
    const [choice] = [record(JSON.parse(line.slice(6))).choices].flat();
    const { content } = record(record(choice).delta);
    if (typeof content === 'string') bytes += Buffer.byteLength(content);
  }
  return bytes;
}

/** Of an answer that can be read its text counts, else all of its bytes. */
function outputOf(answer: Wire): number {
  const text = answer.body.toString();
  if (Object.fromEntries(answer.headers)['content-type']?.startsWith('text/event-stream'))
    return contentBytes(text);
  if (!isJson(text)) return answer.body.length;
  const [choice] = [record(JSON.parse(text)).choices].flat();
  const { content } = record(record(choice).message);
  return typeof content === 'string' ? Buffer.byteLength(content) : answer.body.length;
}
