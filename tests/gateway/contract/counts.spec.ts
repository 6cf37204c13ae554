import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAllowedHead } from '#tests/gateway/contract/answer';
import { askAs, type Speaker } from '#tests/gateway/contract/speaker';
import { contentSpeakers } from '#tests/gateway/contract/speakers/content';
import { messagesSpeakers } from '#tests/gateway/contract/speakers/messages';
import { responsesSpeakers } from '#tests/gateway/contract/speakers/responses';
import { closeBalanced, linesOf } from '#tests/support/books';
import { jsonOf, seenOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { expectRefusal } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

type Counter = Pick<
  Speaker,
  | 'name'
  | 'operation'
  | 'credential'
  | 'headers'
  | 'model'
  | 'target'
  | 'body'
  | 'upstreamTarget'
  | 'received'
> & {
  /** Where the count stands in its answer. */
  readonly field: string;
};

const counters: readonly Counter[] = [
  ...messagesSpeakers
    .filter(({ streamed }) => !streamed)
    .map((speaker) => ({
      ...speaker,
      name: 'messages: count_tokens',
      operation: 'messages.count_tokens',
      target: () => '/v1/messages/count_tokens',
      upstreamTarget: '/messages/count_tokens',
      field: 'input_tokens',
    })),
  ...responsesSpeakers
    .filter(({ streamed }) => !streamed)
    .map((speaker) => ({
      ...speaker,
      name: 'responses: input_tokens',
      operation: 'responses.input_tokens',
      target: () => '/v1/responses/input_tokens',
      upstreamTarget: '/responses/input_tokens',
      field: 'input_tokens',
    })),
  ...contentSpeakers
    .filter(({ streamed }) => !streamed)
    .map((speaker) => ({
      ...speaker,
      name: 'generate-content: countTokens',
      operation: 'content.count',
      target: (model: string) => `/v1beta/models/${model}:countTokens`,
      upstreamTarget: '/models/echo:countTokens',
      field: 'totalTokens',
    })),
];

describe('a count costs nothing (contract: families/counting)', () => {
  let stack: Stack;
  let poor: { id: string; slug: string };
  beforeAll(async () => {
    stack = await joinStack();
    // Counting needs no money.
    poor = await stack.workspace({ credit: '0', rpm: 10_000 });
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });
  const newKey = () => stack.key(poor.slug, { concurrency: 1, tpm: 1 });
  const oneSlot = async () => (await newKey()).key;
  const free = { cost: '0', usageSource: 'none', lines: [] };

  describe.concurrent.each(counters)('$name', (counter) => {
    it.each([
      ['echo', 200],
      ['fault/slow-bytes?size=7', 200],
      ['fault/garbage', 200],
      ['fault/redirect', 302],
      ...[400, 401, 403, 404, 429, 500, 529].map((status) => [`fault/status-${status}`, status] as const),
    ] as const)('and passes byte for byte: %s', async (directive, status) => {
      const key = await oneSlot();
      const asked = await askAs(counter, stack.url, key, { directive });
      const seen = await seenOf(stack, asked);
      const end = await stack.sandbox.ended(seen.id);
      expect([seen.path, seen.body]).toEqual([
        counter.upstreamTarget,
        counter.received(asked.body, counter.model),
      ]);
      expect([asked.answer.status, asked.answer.whole]).toEqual([status, true]);
      expect(asked.answer.body.toString()).toBe(Buffer.from(end.sent ?? '', 'base64').toString());
      expectAllowedHead(asked.answer, stack.sandbox.key);
      if (directive === 'echo') expect(jsonOf(asked.answer)[counter.field]).toBeGreaterThan(10);
      const { operation } = counter;
      expect(await stack.call(asked.id)).toMatchObject({ ...free, operation, status, streamed: false });
      expect(await linesOf(stack, asked.id)).toEqual([]);
      expect((await askAs(counter, stack.url, key)).answer.status, 'the slot is free').toBe(200);
    });

    it.each(['fault/close-before-headers', 'fault/reset'])('nor without an answer: %s', async (directive) => {
      const key = await oneSlot();
      const asked = await askAs(counter, stack.url, key, { directive });
      expectRefusal(asked.answer, 'upstream_request_failed', key);
      expect(await stack.call(asked.id)).toMatchObject({ ...free, status: 502, endReason: 'upstream_error' });
      expect((await askAs(counter, stack.url, key)).answer.status, 'the slot is free').toBe(200);
    });

    it('nor when its answer breaks off, and its client sees that it did', async () => {
      const key = await oneSlot();
      const asked = await askAs(counter, stack.url, key, { directive: 'fault/cut' });
      expect([asked.answer.status, asked.answer.whole]).toEqual([200, false]);
      expect(await stack.call(asked.id)).toMatchObject({ ...free, status: 200, endReason: 'upstream_error' });
      expect((await askAs(counter, stack.url, key)).answer.status, 'the slot is free').toBe(200);
    });

    it('nor when its client leaves', async () => {
      const { id: keyId, key } = await newKey();
      const slow = { directive: 'fault/slow-first-byte?ms=100000' };
      const asked = await askAs(counter, stack.url, key, slow, { leaveAfter: stack.sandbox.begun });
      expect(asked.answers).toEqual([]);
      const { id } = await seenOf(stack, asked);
      expect((await stack.sandbox.ended(id)).end).toBe('client_gone');
      await eventually(async () => {
        const text = `SELECT end_reason, cost_nano::text FROM call
          WHERE key_id = $1 AND json_array_length(attempts) = 1`;
        return (await stack.db.pool.query(text, [keyId])).rows;
      }, [{ end_reason: 'client_gone', cost_nano: '0' }]);
      await eventually(async () => (await askAs(counter, stack.url, key)).answer.status, 200);
    });
  });
});
