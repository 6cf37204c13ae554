import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { record } from '#lib/sandbox/content/tool-call';
import {
  askMessages,
  brokenMessagesNano,
  fairMessagesNano,
  outputBytesOf,
} from '#tests/gateway/messages/call';
import { costOf, estimatedNano, expectBalancedBooks, linesOf } from '#tests/support/books';
import { receivedOf, seenOf } from '#tests/support/chat-call';
import { type Stack, startStack } from '#tests/support/stack';

interface Case {
  /** The provider's behaviour. */
  readonly directive: string;
  readonly status?: number;
  /** The client gets all that was sent, or what came before the break and then an error event. */
  readonly relayed?: 'all' | 'part';
  /** reported; estimated: nothing was told; open: the input was told, the output was not. */
  readonly charged?: 'reported' | 'estimated' | 'open' | 'none';
  readonly end?: string;
  readonly flags?: readonly string[];
}

const both: readonly Case[] = [
  { directive: 'echo?tokens=30' },
  { directive: 'reasoner?tokens=10&reasoning=24' },
  { directive: 'fault/slow-bytes?size=7' },
  { directive: 'fault/no-usage', charged: 'estimated' },
  { directive: 'fault/null-usage', charged: 'estimated' },
  { directive: 'fault/negative-usage', flags: ['usage_negative'] },
  { directive: 'fault/fraction-usage', flags: ['usage_not_integer'] },
  { directive: 'fault/garbage', charged: 'estimated' },
  { directive: 'fault/invalid-key-400', status: 400, charged: 'none' },
  ...[400, 401, 402, 403, 404, 413, 429, 500, 503, 529].map(
    (status) => ({ directive: `fault/status-${status}`, status, charged: 'none' }) as const,
  ),
];
const broken = { relayed: 'part', end: 'upstream_error' } as const;
const wholeOnly: readonly Case[] = [
  { directive: 'fault/cut', ...broken, charged: 'estimated' },
  { directive: 'fault/end', charged: 'estimated' },
];
const streamOnly: readonly Case[] = [
  { directive: 'fault/cut@3', ...broken, charged: 'open' },
  { directive: 'fault/cut-inside@3', ...broken, charged: 'open' },
  { directive: 'fault/reset@3', ...broken, charged: 'open' },
  { directive: 'fault/end@3', charged: 'open' },
  { directive: 'fault/error-event@3', charged: 'open', end: 'upstream_error' },
  { directive: 'fault/error-event@0', charged: 'none', end: 'upstream_error' },
  { directive: 'fault/malformed-event@2' },
  { directive: 'fault/crlf' },
  { directive: 'fault/cr' },
  { directive: 'fault/comments' },
  { directive: 'fault/done-twice' },
  { directive: 'fault/moderation-chunk' },
  { directive: 'fault/trailing-bytes' },
  { directive: 'fault/usage-twice' },
];

describe('an answer of the messages family', () => {
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

  async function check(stream: boolean, wanted: Case): Promise<void> {
    const { key } = await stack.key(workspace, { concurrency: 1 });
    const asked = await askMessages(stack.url, key, { stream, directive: wanted.directive });
    const { answer } = asked;
    const seen = await seenOf(stack, asked);
    const end = await stack.sandbox.ended(seen.id);
    const sent = Buffer.from(end.sent ?? '', 'base64').toString();
    const call = await stack.call(asked.id);

    expect(seen).toMatchObject({ path: '/messages' });
    expect(await receivedOf(stack, asked)).toEqual({ ...JSON.parse(asked.body), model: 'echo' });
    expect(answer.status).toBe(wanted.status ?? 200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'request-id': asked.id,
      'x-upstream-request-id': seen.id,
      'x-answered-model': 'sandbox/echo',
    });
    expect(JSON.stringify(answer.headers)).not.toContain(stack.sandbox.key);
    expectRelayed(answer.body.toString(), sent, wanted, stream);
    expect(answer.whole).toBe(stream || wanted.relayed !== 'part');

    const charged = wanted.charged ?? 'reported';
    expect(call).toMatchObject({
      family: 'messages',
      operation: 'messages.create',
      status: answer.status,
      errorCode: null,
      streamed: stream,
      endReason: wanted.end ?? 'completed',
      usageSource: charged === 'open' ? 'estimated' : charged,
      answeringModel: 'sandbox/echo',
      flags: expect.arrayContaining([...(wanted.flags ?? [])]),
    });
    const bytes = outputBytesOf(answer.body.toString());
    const owed = {
      reported: fairMessagesNano(end),
      estimated: estimatedNano(asked.body.length, bytes),
      open: brokenMessagesNano(end, bytes),
      none: 0n,
    }[charged];
    expect(costOf(call)).toBe(owed);
    expect(await linesOf(stack, asked.id)).toEqual(owed === 0n ? [] : [-owed]);
    const next = await askMessages(stack.url, key, {});
    expect(next.answer.status, 'the slot is free').toBe(200);
  }

  describe.concurrent('whole', () => {
    it.each([...both, ...wholeOnly])('passes and is charged as it was sent: $directive', (wanted) =>
      check(false, wanted),
    );
  });
  describe.concurrent('streamed', () => {
    it.each([...both, ...streamOnly])('passes byte for byte and is charged: $directive', (wanted) =>
      check(true, wanted),
    );
  });
});

function expectRelayed(got: string, sent: string, wanted: Case, stream: boolean): void {
  if (wanted.relayed !== 'part') {
    expect(got).toBe(sent);
    return;
  }
  if (!stream) {
    expect(got.length).toBeGreaterThan(0);
    expect(sent.startsWith(got)).toBe(true);
    return;
  }
  const at = got.lastIndexOf('event: error\n');
  const before = got.slice(0, at);
  // An unfinished event is ended by a blank line of ours.
  expect(sent.startsWith(before) || sent.startsWith(before.slice(0, -2))).toBe(true);
  expect(before.endsWith('\n\n')).toBe(true);
  const frame = got.slice(at);
  expect(frame.endsWith('\n\n')).toBe(true);
  const told = record(JSON.parse(frame.slice(frame.indexOf('data: ') + 6)));
  expect(Object.keys(told)).toEqual(['type', 'error']);
  expect(told).toMatchObject({ type: 'error', error: { code: 'upstream_request_failed' } });
  expect(Object.keys(record(told.error))).toEqual(['message', 'code']);
}
