import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setPolicy } from '#lib/verbs/policy';
import { costOf, estimatedNano, expectBalancedBooks, fairNano, linesOf } from '#tests/support/books';
import { askChat, bearer, jsonOf, seenOf } from '#tests/support/chat-call';
import { type Stack, startStack } from '#tests/support/stack';
import { headerOf, requestText, talk } from '#tests/support/wire';

/** The answer's head is here, and so many events of its body. */
const afterEvents = (events: number) => (raw: string) => raw.split('data: {').length > events;
const atOnce = () => true;

describe.each(['node', 'web'] as const)('a chat call that does not end well over the %s lane', (lane) => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ lane });
  });
  afterAll(async () => {
    await expectBalancedBooks(stack).finally(() => stack.close());
    expect(stack.log()).toBe('');
  });

  async function oneSlot(): Promise<string> {
    const { slug } = await stack.workspace({ rpm: 10_000 });
    return (await stack.key(slug, { concurrency: 1 })).key;
  }

  /** The slot is free again: at once, or when the drain has ended. */
  async function expectFreeSlot(key: string): Promise<void> {
    let status = 0;
    for (let tries = 0; tries < 100 && status !== 200; tries += 1) {
      status = (await askChat(stack.url, key, {})).answer.status;
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(status).toBe(200);
  }

  describe.concurrent('without an HTTP answer of the provider', () => {
    it.each([
      ['fault/close-before-headers', 'connection_closed', 'upstream_error'],
      ['fault/reset', 'connection_reset', 'upstream_error'],
      ['fault/huge-headers', 'bad_answer', 'upstream_error'],
      ['fault/huge-headers?bytes=200000', 'bad_answer', 'upstream_error'],
      ['fault/cut@0', 'connection_closed', 'upstream_error'],
      ['fault/stall', 'first_byte_timeout', 'timeout'],
      ['fault/stall@0', 'first_byte_timeout', 'timeout'],
    ])('%s is 502 upstream_request_failed and costs nothing', async (directive, error, end) => {
      const { slug } = await stack.workspace();
      await setPolicy(stack.db, 'test', {
        workspace: slug,
        policy: { timeouts: { firstByteMs: 400, firstByteWholeMs: 400 } },
      });
      const { key } = await stack.key(slug, { concurrency: 1 });
      const asked = await askChat(stack.url, key, { directive, stream: true });
      expect(asked.answer.status).toBe(502);
      expect(jsonOf(asked.answer)).toEqual({
        error: { message: expect.stringContaining(error), code: 'upstream_request_failed' },
      });
      expect(headerOf(asked.answer, 'x-should-retry')).toBeUndefined();
      expect(await stack.call(asked.id)).toMatchObject({
        status: 502,
        errorCode: 'upstream_request_failed',
        endReason: end,
        usageSource: 'none',
        cost: '0',
        provider: null,
        attempts: [{ provider: 'sandbox', status: null, error, possibleDuplicate: end === 'timeout' }],
      });
      expect(await linesOf(stack, asked.id)).toEqual([]);
      await expectFreeSlot(key);
    });
  });

  describe.concurrent('after its first byte', () => {
    it.each([
      [true, 'idle', { idleMs: 300 }, 'idle_timeout'],
      [true, 'total', { totalMs: 500 }, 'total_timeout'],
      [false, 'idle', { idleMs: 300 }, 'idle_timeout'],
    ])('a stall (stream: %s) ends at the %s time limit', async (stream, _which, timeouts, error) => {
      const { slug } = await stack.workspace();
      await setPolicy(stack.db, 'test', { workspace: slug, policy: { timeouts } });
      const { key } = await stack.key(slug, { concurrency: 1 });
      const asked = await askChat(stack.url, key, { directive: 'fault/stall@3', stream });
      expect(asked.answer.status).toBe(200);
      const text = asked.answer.body.toString();
      if (stream) {
        const [last] = text.trimEnd().split('\n\n').slice(-1);
        expect(JSON.parse(last?.slice(6) ?? '')).toEqual({
          error: { message: expect.stringContaining(error), code: 'upstream_request_failed' },
        });
        expect(asked.answer.whole).toBe(true);
        expect(text).not.toContain('[DONE]');
      } else {
        expect(asked.answer.whole).toBe(false);
      }
      expect(await stack.call(asked.id)).toMatchObject({ endReason: 'timeout', usageSource: 'estimated' });
      expect(await linesOf(stack, asked.id)).toHaveLength(1);
      await expectFreeSlot(key);
    });
  });

  describe.concurrent('when its client leaves', () => {
    it('before the headers, where the provider stops then: the input is charged by estimate', async () => {
      const key = await oneSlot();
      const asked = await askChat(
        stack.url,
        key,
        { directive: 'fault/slow-first-byte?ms=3000' },
        { patienceMs: 500 },
      );
      expect(asked.end).toBe('late');
      const { id, call } = await onlyCall(key);
      const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
      expect(end.end).toBe('client_gone');
      expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'estimated' });
      expect(costOf(call)).toBe(estimatedNano(asked.body.length, 0));
      expect(await linesOf(stack, id)).toEqual([-costOf(call)]);
      await expectFreeSlot(key);
    });

    it('before the headers, where the provider works on: it is drained and charged as reported', async () => {
      const key = await oneSlot();
      const asked = await askChat(
        stack.url,
        key,
        { model: 'test/drained', directive: 'fault/slow-first-byte?ms=900' },
        { patienceMs: 300 },
      );
      const { id, call } = await onlyCall(key);
      const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
      expect(end.end).toBe('completed');
      expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'reported', status: 200 });
      expect(await linesOf(stack, id)).toEqual([-fairNano(end)]);
      await expectFreeSlot(key);
    });

    it('mid-stream, where the provider stops then: the output relayed is charged by estimate', async () => {
      const key = await oneSlot();
      const asked = await askChat(
        stack.url,
        key,
        { directive: 'pace/20/500', stream: true },
        { leaveWhen: afterEvents(10) },
      );
      const call = await stack.call(asked.id);
      const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
      expect(end.end).toBe('client_gone');
      expect(end.outputTokens).toBeLessThan(100);
      expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'estimated', status: 200 });
      expect(call.usage.output).toBeGreaterThan(0);
      expect(call.usage.output).toBeLessThanOrEqual(Math.ceil((end.bytesSent ?? 0) / 4));
      expect(await linesOf(stack, asked.id)).toEqual([-costOf(call)]);
      await expectFreeSlot(key);
    });

    it('mid-stream, where the provider works on: the slot stays until the drain ends', async () => {
      const key = await oneSlot();
      const asked = await askChat(
        stack.url,
        key,
        { model: 'test/drained', directive: 'pace/20/60', stream: true },
        { leaveWhen: afterEvents(5) },
      );
      const next = await askChat(stack.url, key, {});
      expect(next.answer.status).toBe(429);
      const call = await stack.call(asked.id);
      const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
      expect(end).toMatchObject({ end: 'completed', outputTokens: 60 });
      expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'reported' });
      expect(await linesOf(stack, asked.id)).toEqual([-fairNano(end)]);
      await expectFreeSlot(key);
    });

    it('mid-body of a whole answer: what was relayed is charged by estimate', async () => {
      const key = await oneSlot();
      const asked = await askChat(
        stack.url,
        key,
        { directive: 'fault/stall@1' },
        { leaveWhen: atOnce, patienceMs: 800 },
      );
      const { id, call } = await onlyCall(key);
      expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'estimated' });
      expect(asked.answer.status === 200 || asked.answer.status === 0).toBe(true);
      expect(await linesOf(stack, id)).toEqual([-costOf(call)]);
      await expectFreeSlot(key);
    });

    it('before the request was sent whole: nothing is charged and no provider learns of it', async () => {
      const key = await oneSlot();
      const body = JSON.stringify({
        model: 'sandbox/echo',
        messages: [{ role: 'user', content: 'never whole' }],
      });
      const text = requestText(
        'POST',
        '/v1/chat/completions',
        {
          ...bearer(key),
          'Content-Length': String(body.length + 100),
        },
        body,
      );
      await talk(stack.url, text, {
        afterwards: (socket) => setTimeout(() => socket.end(), 50),
        patienceMs: 600,
      });
      const { id, call } = await onlyCall(key);
      expect(call).toMatchObject({ errorCode: 'invalid_body', cost: '0', attempts: [] });
      expect(await linesOf(stack, id)).toEqual([]);
      await expectFreeSlot(key);
    });
  });

  /** The newest call of the key whose client did not see its id. */
  async function onlyCall(key: string) {
    const display = key.slice(-4);
    for (let tries = 0; tries < 200; tries += 1) {
      const { rows } = await stack.db.pool.query<{ id: string }>(
        'SELECT c.id FROM call c JOIN api_key k ON k.id = c.key_id WHERE k.display_end = $1',
        [display],
      );
      const [row] = rows;
      if (row) return { id: row.id, call: await stack.call(row.id) };
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error('the call did not reach the log');
  }
});
