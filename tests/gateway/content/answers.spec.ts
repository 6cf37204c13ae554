import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askContent, fairContentNano, methods, outputBytesOf, type Shape } from '#tests/gateway/content/call';
import { costOf, estimatedNano, expectBalancedBooks, linesOf } from '#tests/support/books';
import { receivedOf, seenOf } from '#tests/support/chat-call';
import { type Stack, startStack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

interface Case {
  /** The provider's behaviour. */
  readonly directive: string;
  readonly status?: number;
  /** The client gets what came before the break, and its framing tells that it was cut. */
  readonly torn?: boolean;
  readonly charged?: 'reported' | 'estimated' | 'none';
  readonly end?: string;
  readonly flags?: readonly string[];
  readonly say?: string;
}

const all: readonly Case[] = [
  { directive: 'echo?tokens=30' },
  { directive: 'reasoner?tokens=10&reasoning=24' },
  { directive: 'echo?tokens=5', say: 'FORBIDDEN' },
  { directive: 'fault/slow-bytes?size=7' },
  { directive: 'fault/no-usage', charged: 'estimated' },
  { directive: 'fault/null-usage', charged: 'estimated' },
  { directive: 'fault/negative-usage', flags: ['usage_negative'] },
  { directive: 'fault/fraction-usage', flags: ['usage_not_integer'] },
  { directive: 'fault/garbage', charged: 'estimated' },
  { directive: 'fault/garbage?kind=json', charged: 'estimated' },
  { directive: 'fault/invalid-key-400', status: 400, charged: 'none' },
  { directive: 'fault/redirect', status: 302, charged: 'none' },
  ...[400, 401, 402, 403, 404, 413, 429, 500, 503, 504].map(
    (status) => ({ directive: `fault/status-${status}`, status, charged: 'none' }) as const,
  ),
];
const broken = { torn: true, end: 'upstream_error' } as const;
const whole: readonly Case[] = [
  ...all,
  { directive: 'fault/cut', ...broken, charged: 'estimated' },
  { directive: 'fault/wrong-length?by=10', ...broken },
  { directive: 'fault/end', charged: 'estimated' },
];
const streamed: readonly Case[] = [
  ...all,
  { directive: 'fault/cut@3', ...broken },
  { directive: 'fault/cut-inside@3', ...broken },
  { directive: 'fault/reset@3', ...broken },
  { directive: 'fault/end@3' },
  { directive: 'fault/error-event@3', end: 'upstream_error' },
  { directive: 'fault/error-event@0', charged: 'none', end: 'upstream_error' },
  { directive: 'fault/usage-in-finish-chunk' },
  { directive: 'pace/5/20' },
];
const events: readonly Case[] = [
  { directive: 'fault/malformed-event@2' },
  { directive: 'fault/lf' },
  { directive: 'fault/cr' },
  { directive: 'fault/comments' },
  { directive: 'fault/trailing-bytes' },
];

describe('an answer of the generate-content family', () => {
  let stack: Stack;
  let workspace: string;
  beforeAll(async () => {
    stack = await startStack();
    workspace = (await stack.workspace({ credit: '5000', rpm: 10_000 })).slug;
  });
  afterAll(async () => {
    await expectBalancedBooks(stack).finally(() => stack.close());
    expect(stack.log()).toBe('');
  });

  async function check(shape: Shape, wanted: Case): Promise<void> {
    const { key } = await stack.key(workspace, { concurrency: 1 });
    const { directive, say = 'Say' } = wanted;
    const asked = await askContent(stack.url, key, shape, { directive, say });
    const { answer } = asked;
    const seen = await seenOf(stack, asked);
    const end = await stack.sandbox.ended(seen.id);
    const sent = Buffer.from(end.sent ?? '', 'base64');
    const call = await stack.call(asked.id);

    expect(`${seen.path}${seen.query ? `?${seen.query}` : ''}`).toBe(`/models/echo:${methods[shape]}`);
    expect(await receivedOf(stack, asked)).toEqual(JSON.parse(asked.body));
    expect(answer.status).toBe(wanted.status ?? 200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-request-id': asked.id,
      'x-upstream-request-id': seen.id,
      'x-answered-model': 'sandbox/echo',
      'x-answered-provider': 'sandbox',
      'x-attempts': '1',
    });
    expect(JSON.stringify(answer.headers)).not.toContain(stack.sandbox.key);
    // Never a comment, an event name, a terminator or an error of ours: byte for byte what was sent.
    expect(answer.body.toString()).toBe(sent.toString());
    expect(answer.whole).toBe(!wanted.torn);

    const charged = wanted.charged ?? 'reported';
    expect(call).toMatchObject({
      family: 'generate-content',
      operation: shape === 'whole' ? 'content.generate' : 'content.stream',
      status: answer.status,
      errorCode: null,
      streamed: shape !== 'whole',
      endReason: wanted.end ?? 'completed',
      usageSource: charged,
      requestedModel: 'sandbox/echo',
      answeringModel: 'sandbox/echo',
      provider: 'sandbox',
      flags: expect.arrayContaining([...(wanted.flags ?? [])]),
      attempts: [{ provider: 'sandbox', status: answer.status, upstreamRequestId: seen.id }],
    });
    const owed = {
      reported: fairContentNano(end),
      estimated: estimatedNano(asked.body.length, outputBytesOf(answer.body.toString())),
      none: 0n,
    }[charged];
    expect(costOf(call)).toBe(owed);
    expect(await linesOf(stack, asked.id)).toEqual(owed === 0n ? [] : [-owed]);
    const next = await askContent(stack.url, key, 'whole');
    expect(next.answer.status, 'the slot is free').toBe(200);
  }

  describe.concurrent('whole', () => {
    it.each(whole)('passes and is charged as it was sent: $directive', (wanted) => check('whole', wanted));
  });
  describe.concurrent('streamed as SSE', () => {
    it.each([...streamed, ...events])('passes byte for byte and is charged: $directive', (wanted) =>
      check('sse', wanted),
    );
  });
  describe.concurrent('streamed as a JSON array', () => {
    it.each(streamed)('passes byte for byte and is charged: $directive', (wanted) => check('array', wanted));
  });

  it.each(['sse', 'array'] as const)('flows while the provider still writes: %s', async (shape) => {
    const { key } = await stack.key(workspace);
    const fields = { directive: 'fault/stall@3' };
    const threeChunks = (raw: string) => raw.split('"candidates"').length > 3;
    const asked = await askContent(stack.url, key, shape, fields, {
      leaveWhen: threeChunks,
      patienceMs: 5_000,
    });
    expect(asked.end).toBe('open');
    expect(headerOf(asked.answer, 'content-length')).toBeUndefined();
    expect(headerOf(asked.answer, 'x-accel-buffering')).toBe('no');
    expect(await stack.call(asked.id)).toMatchObject({ endReason: 'client_gone', usageSource: 'reported' });
  });

  it('counts thoughts as output beside the candidates, and what tools read as input', async () => {
    const { key } = await stack.key(workspace);
    const fields = { directive: 'echo?tokens=7&reasoning=5', say: 'search', tools: [{ googleSearch: {} }] };
    const asked = await askContent(stack.url, key, 'sse', fields);
    const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
    const { usage } = await stack.call(asked.id);
    expect(usage).toMatchObject({ output: 12, reasoning: 5, input: end.inputTokens, webSearches: 1 });
  });
});
