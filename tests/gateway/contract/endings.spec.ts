import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectBroken } from '#tests/gateway/contract/answer';
import { askAs, credentialOf, estimatedNano, type Speaker } from '#tests/gateway/contract/speaker';
import { speakers } from '#tests/gateway/contract/speakers/index';
import { unrepeated } from '#tests/support/attempts';
import { closeBalanced, costOf, linesOf } from '#tests/support/books';
import { jsonOf, seenOf } from '#tests/support/chat-call';
import { setPolicy } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { expectRefusal } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf, requestText, talk } from '#tests/support/wire';

const streams = speakers.filter(({ streamed }) => streamed);
const wholes = speakers.filter(({ streamed }) => !streamed);

/** The answer's head is here, and so many pieces of text. */
const afterPieces =
  ({ piece }: Speaker, pieces: number) =>
  (raw: string) =>
    raw.split(piece).length > pieces;

describe('a call that does not end well (contract: routing/broken-stream, money/free)', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  /** The workspaces, by their timeouts. */
  const slugs = new Map<string, Promise<string>>();
  async function newWorkspace(timeouts: Readonly<Record<string, number>> | undefined): Promise<string> {
    const { slug } = await stack.workspace({ credit: '5000', rpm: null, tpm: null, concurrency: null });
    if (timeouts) await setPolicy(stack.db, { workspace: slug, policy: { timeouts } });
    return slug;
  }

  /** A key with one slot. */
  async function own(timeouts?: Readonly<Record<string, number>>) {
    const name = JSON.stringify(timeouts ?? {});
    const making = slugs.get(name) ?? newWorkspace(timeouts);
    slugs.set(name, making);
    const { id: keyId, key } = await stack.key(await making, { concurrency: 1 });
    return { keyId, key };
  }

  /** The slot is free again: at once, or when the drain has ended. */
  const expectFreeSlot = (speaker: Speaker, key: string) =>
    eventually(async () => (await askAs(speaker, stack.url, key)).answer.status, 200);

  /** The one call of a key, among those that ended so: its client did not see its id. */
  async function onlyCall(keyId: string, endReason: string | null = null) {
    const find = async () => {
      const text = 'SELECT id FROM call WHERE key_id = $1 AND ($2::text IS NULL OR end_reason = $2)';
      return (await stack.db.pool.query<{ id: string }>(text, [keyId, endReason])).rows;
    };
    await eventually(async () => (await find()).length, 1);
    return stack.call((await find())[0]?.id ?? '');
  }

  async function truthOf(asked: { mark: string }) {
    return stack.sandbox.ended((await seenOf(stack, asked)).id);
  }

  describe.concurrent.each(speakers)('without an HTTP answer: $name', (speaker) => {
    it.each([
      ['fault/close-before-headers', 'connection_closed', 'upstream_error'],
      ['fault/reset', 'connection_reset', 'upstream_error'],
      ['fault/garbage', 'unreadable_answer', 'upstream_error'],
      ['fault/huge-headers', 'bad_answer', 'upstream_error'],
      ['fault/huge-headers?bytes=200000', 'bad_answer', 'upstream_error'],
      ['fault/stall', 'first_byte_timeout', 'timeout'],
      ...(speaker.streamed
        ? [
            ['fault/cut@0', 'connection_closed', 'upstream_error'],
            ['fault/stall@0', 'first_byte_timeout', 'timeout'],
          ]
        : []),
    ])('%s is 502 upstream_request_failed and costs nothing', async (directive, error, end) => {
      // On a busy machine a failure may come later than a short limit.
      const short = { firstByteMs: 400, firstByteWholeMs: 400 };
      const { key } = await own(end === 'timeout' ? short : undefined);
      const asked = await askAs(speaker, stack.url, key, { directive });
      expect(asked.answer.status).toBe(502);
      expect(jsonOf(asked.answer)).toEqual({
        error: { message: expect.stringContaining(error), code: 'upstream_request_failed' },
      });
      expect(headerOf(asked.answer, 'x-should-retry')).toBeUndefined();
      const call = await stack.call(asked.id);
      expect(call).toMatchObject({
        operation: speaker.operation,
        streamed: speaker.streamed,
        status: 502,
        errorCode: 'upstream_request_failed',
        endReason: end,
        usageSource: 'none',
        cost: '0',
        provider: null,
      });
      expect(unrepeated(call)).toMatchObject([
        { provider: 'sandbox', status: null, error, possibleDuplicate: end === 'timeout' },
      ]);
      expect(await linesOf(stack, asked.id)).toEqual([]);
      await expectFreeSlot(speaker, key);
    });
  });

  describe.concurrent.each(speakers)('after its first byte: $name', (speaker) => {
    it.each([
      ['idle_timeout', [{ idleMs: 300 }]],
      // Counted from the call's arrival: on a busy machine the answer's first byte may come later than the first limits.
      ...(speaker.streamed
        ? ([['total_timeout', [500, 8_000, 60_000].map((totalMs) => ({ totalMs }))]] as const)
        : []),
    ] as const)('a stall ends with %s, told by the family’s own means', async (error, [least, ...longer]) => {
      const stall = async (timeouts: Readonly<Record<string, number>>) => {
        const { key } = await own(timeouts);
        return { key, asked: await askAs(speaker, stack.url, key, { directive: 'fault/stall@3' }) };
      };
      let stalled = await stall(least ?? {});
      for (const limits of longer) {
        if (!speaker.streamed || stalled.asked.answer.status !== 502) break;
        stalled = await stall(limits);
      }
      const { key, asked } = stalled;
      const end = await truthOf(asked);
      const sent = Buffer.from(end.sent ?? '', 'base64').toString();
      const got = asked.answer.body.toString();
      if (!speaker.streamed) {
        expectRefusal(asked.answer, 'upstream_request_failed', key);
        expect(got).toContain(error);
        const call = await stack.call(asked.id);
        expect(call).toMatchObject({ status: 502, endReason: 'timeout', cost: '0' });
        await expectFreeSlot(speaker, key);
        return;
      }
      expect(asked.answer.status).toBe(200);
      expectBroken(speaker, got, sent);
      if (speaker.frame) expect(got).toContain(error);
      expect(asked.answer.whole).toBe(speaker.frame !== null);
      const call = await stack.call(asked.id);
      expect(call).toMatchObject({ endReason: 'timeout', usageSource: speaker.broken.usageSource });
      expect(await linesOf(stack, asked.id)).toEqual([-costOf(call)]);
      await expectFreeSlot(speaker, key);
    });
  });

  describe.concurrent.each(streams)('when its client leaves mid-stream: $name', (speaker) => {
    it('where the provider then stops: charged as far as usage was reported, the rest by estimate', async () => {
      const { key } = await own();
      const leaveWhen = afterPieces(speaker, 10);
      // A busy client leaves late: the answer waits for it.
      const stalls = { directive: 'pace/1/60/fault/stall@12' };
      const asked = await askAs(speaker, stack.url, key, stalls, { leaveWhen });
      expect(headerOf(asked.answer, 'content-length')).toBeUndefined();
      expect(headerOf(asked.answer, 'x-accel-buffering')).toBe('no');
      const call = await stack.call(asked.id);
      const end = await truthOf(asked);
      const { usageSource, tellsInput } = speaker.broken;
      expect(end.end).toBe('client_gone');
      expect(call).toMatchObject({ endReason: 'client_gone', usageSource, status: 200 });
      const { input, output } = call.usage;
      if (tellsInput !== 'by piece') {
        expect(input).toBe(tellsInput === 'all' ? end.inputTokens : Math.ceil(asked.body.length / 4));
      }
      expect(output).toBeGreaterThan(0);
      // By estimate no more than what came; as told no more than what was made.
      const most = usageSource === 'estimated' ? Math.ceil(end.bytesSent / 4) : end.outputTokens;
      expect(output).toBeLessThanOrEqual(most);
      const { rates } = speaker;
      expect(costOf(call)).toBe(BigInt(input) * rates.input + BigInt(output) * rates.output);
      expect(await linesOf(stack, asked.id)).toEqual([-costOf(call)]);
      await expectFreeSlot(speaker, key);
    });

    it('where the provider works on: its slot is free at once, and it is drained and charged as reported', async () => {
      const { key } = await own();
      const wish = { model: speaker.drained, directive: 'pace/1/60/fault/stall@10' };
      const asked = await askAs(speaker, stack.url, key, wish, { leaveWhen: afterPieces(speaker, 5) });
      // As soon as the gateway knows that the client left, long before the answer ends.
      await expectFreeSlot(speaker, key);
      await stack.sandbox.release(asked.mark);
      const call = await stack.call(asked.id);
      const end = await truthOf(asked);
      expect(end).toMatchObject({ end: 'completed' });
      expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'reported' });
      expect(await linesOf(stack, asked.id)).toEqual([-speaker.fair(end)]);
      await expectFreeSlot(speaker, key);
    });
  });

  describe.concurrent.each(wholes)('when its client leaves: $name', (speaker) => {
    it('before the headers, where the provider stops then: the input is charged by estimate', async () => {
      const { key, keyId } = await own();
      const slow = { directive: 'fault/slow-first-byte?ms=100000' };
      const asked = await askAs(speaker, stack.url, key, slow, { leaveAfter: stack.sandbox.begun });
      expect(asked.answers).toEqual([]);
      const call = await onlyCall(keyId);
      expect((await truthOf(asked)).end).toBe('client_gone');
      // Nobody waited for a provider: none is to blame.
      expect(call).toMatchObject({ status: 499, errorCode: null, endReason: 'client_gone' });
      expect(call.usageSource).toBe('estimated');
      expect(costOf(call)).toBe(estimatedNano(speaker, asked.body, 0));
      expect(await linesOf(stack, call.id)).toEqual([-costOf(call)]);
      await expectFreeSlot(speaker, key);
    });

    it('before the headers, where the provider works on: it is drained and charged as reported', async () => {
      const { key, keyId } = await own();
      const slow = { model: speaker.drained, directive: 'fault/slow-first-byte?ms=100000' };
      const asked = await askAs(speaker, stack.url, key, slow, { leaveAfter: stack.sandbox.begun });
      // Free as soon as the gateway knows that the client left.
      await expectFreeSlot(speaker, key);
      await stack.sandbox.release(asked.mark);
      const call = await onlyCall(keyId, 'client_gone');
      const end = await truthOf(asked);
      expect(end.end).toBe('completed');
      expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'reported', status: 200 });
      expect(await linesOf(stack, call.id)).toEqual([-speaker.fair(end)]);
      await expectFreeSlot(speaker, key);
    });

    it('in the middle of the answer: what was relayed is charged by estimate', async () => {
      const { key, keyId } = await own();
      const stall = { directive: 'fault/stall@1' };
      // What came is held back until more comes: its client sees nothing to leave upon. A client that leaves
      // before it came is charged in the same way.
      const leaveAfter = async (mark: string) => {
        await stack.sandbox.begun(mark);
        await pause(300);
      };
      await askAs(speaker, stack.url, key, stall, { leaveAfter });
      const call = await onlyCall(keyId);
      expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'estimated' });
      expect(await linesOf(stack, call.id)).toEqual([-costOf(call)]);
      await expectFreeSlot(speaker, key);
    });

    it('before the request was sent in full: nothing is charged, and no provider hears of it', async () => {
      const { key, keyId } = await own();
      const mark = `never whole ${keyId}`;
      const body = speaker.body(speaker.model, mark);
      const headers = {
        ...speaker.headers,
        ...credentialOf(speaker, key),
        'Content-Length': String(body.length + 100),
      };
      await talk(stack.url, requestText('POST', speaker.target(speaker.model), headers, body), {
        afterwards: (socket) => socket.end(),
      });
      const call = await onlyCall(keyId);
      expect(call).toMatchObject({ errorCode: 'invalid_body', cost: '0', attempts: [] });
      expect(await linesOf(stack, call.id)).toEqual([]);
      expect(await stack.sandbox.seen(mark)).toEqual([]);
      await expectFreeSlot(speaker, key);
    });
  });
});
