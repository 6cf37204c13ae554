import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setPolicy } from '#lib/verbs/policy';
import { askContent, fairContentNano } from '#tests/gateway/content/call';
import { costOf, expectBalancedBooks, linesOf } from '#tests/support/books';
import { codeOf, seenOf } from '#tests/support/chat-call';
import { type Stack, startStack } from '#tests/support/stack';

/** The answer's head is here, and so many pieces of text. */
const afterPieces = (pieces: number) => (raw: string) => raw.split('"text"').length > pieces;
const streams = ['sse', 'array'] as const;

describe('a generate-content call that does not end well', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(async () => {
    await expectBalancedBooks(stack).finally(() => stack.close());
    expect(stack.log()).toBe('');
  });

  async function oneSlot(timeouts?: Readonly<Record<string, number>>): Promise<string> {
    const { slug } = await stack.workspace({ rpm: 10_000 });
    if (timeouts) await setPolicy(stack.db, 'test', { workspace: slug, policy: { timeouts } });
    return (await stack.key(slug, { concurrency: 1 })).key;
  }

  async function expectFreeSlot(key: string): Promise<void> {
    let status = 0;
    for (let tries = 0; tries < 100 && status !== 200; tries += 1) {
      status = (await askContent(stack.url, key, 'whole')).answer.status;
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(status).toBe(200);
  }

  describe.concurrent('on the provider’s side', () => {
    it.each(['fault/close-before-headers', 'fault/reset', 'fault/cut@0', 'fault/stall'])(
      '%s is 502 in the gateway’s own shape and costs nothing',
      async (directive) => {
        const key = await oneSlot({ firstByteMs: 400 });
        const asked = await askContent(stack.url, key, 'array', { directive });
        expect([asked.answer.status, codeOf(asked.answer)]).toEqual([502, 'upstream_request_failed']);
        expect(await stack.call(asked.id)).toMatchObject({ cost: '0', usageSource: 'none' });
        expect(await linesOf(stack, asked.id)).toEqual([]);
        await expectFreeSlot(key);
      },
    );

    it.each(streams)(
      'a stall after the first byte is flushed and cut, with nothing of ours: %s',
      async (shape) => {
        const key = await oneSlot({ idleMs: 300 });
        const asked = await askContent(stack.url, key, shape, { directive: 'fault/stall@3' });
        const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
        expect(asked.answer.status).toBe(200);
        expect(asked.answer.whole).toBe(false);
        expect(asked.answer.body.toString()).toBe(Buffer.from(end.sent ?? '', 'base64').toString());
        const call = await stack.call(asked.id);
        expect(call).toMatchObject({ endReason: 'timeout', usageSource: 'reported' });
        expect(costOf(call)).toBe(fairContentNano(end));
        await expectFreeSlot(key);
      },
    );

    it('falls back before the first byte, also from a refused credential', async () => {
      const key = await oneSlot();
      const asked = await askContent(stack.url, key, 'sse', { model: 'test/content-falls-back' });
      expect(asked.answer.status).toBe(200);
      expect(await stack.call(asked.id)).toMatchObject({
        provider: 'drained',
        attempts: [
          { provider: 'closed', status: null, error: 'connection_refused' },
          { provider: 'miskeyed', status: 401 },
          { provider: 'drained', status: 200 },
        ],
      });
    });
  });

  describe.concurrent('when its client leaves', () => {
    it.each(streams)(
      'mid-stream, where the provider stops then: the usage seen is charged, %s',
      async (shape) => {
        const key = await oneSlot();
        const asked = await askContent(
          stack.url,
          key,
          shape,
          { directive: 'pace/20/500' },
          { leaveWhen: afterPieces(10) },
        );
        const call = await stack.call(asked.id);
        const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
        expect(end.end).toBe('client_gone');
        expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'reported', status: 200 });
        expect(call.usage.output).toBeGreaterThanOrEqual(10);
        expect(call.usage.output).toBeLessThanOrEqual(end.outputTokens);
        expect(await linesOf(stack, asked.id)).toEqual([-costOf(call)]);
        await expectFreeSlot(key);
      },
    );

    it.each(streams)(
      'mid-stream, where the provider works on: the drain tells the exact usage, %s',
      async (shape) => {
        const key = await oneSlot();
        const asked = await askContent(
          stack.url,
          key,
          shape,
          { model: 'test/content-drained', directive: 'pace/20/60' },
          { leaveWhen: afterPieces(5) },
        );
        const call = await stack.call(asked.id);
        const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
        expect(end).toMatchObject({ end: 'completed', outputTokens: 60 });
        expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'reported' });
        expect(await linesOf(stack, asked.id)).toEqual([-fairContentNano(end)]);
        await expectFreeSlot(key);
      },
    );
  });
});
