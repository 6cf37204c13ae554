import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { record } from '#lib/sandbox/content/tool-call';
import { setPolicy } from '#lib/verbs/policy';
import { askMessages, fairMessagesNano } from '#tests/gateway/messages/call';
import { costOf, estimatedNano, expectBalancedBooks, linesOf } from '#tests/support/books';
import { codeOf, seenOf } from '#tests/support/chat-call';
import { type Stack, startStack } from '#tests/support/stack';

/** The answer's head is here, and so many pieces of text. */
const afterPieces = (pieces: number) => (raw: string) => raw.split('text_delta').length > pieces;

describe('a messages call that does not end well', () => {
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
      status = (await askMessages(stack.url, key, {})).answer.status;
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(status).toBe(200);
  }

  describe.concurrent('on the provider’s side', () => {
    it.each(['fault/close-before-headers', 'fault/reset', 'fault/cut@0', 'fault/stall'])(
      '%s is 502 in the gateway’s own shape and costs nothing',
      async (directive) => {
        const key = await oneSlot({ firstByteMs: 400 });
        const asked = await askMessages(stack.url, key, { directive, stream: true });
        expect([asked.answer.status, codeOf(asked.answer)]).toEqual([502, 'upstream_request_failed']);
        expect(await stack.call(asked.id)).toMatchObject({ cost: '0', usageSource: 'none' });
        expect(await linesOf(stack, asked.id)).toEqual([]);
        await expectFreeSlot(key);
      },
    );

    it('a stall after the first byte ends in an error event', async () => {
      const key = await oneSlot({ idleMs: 300 });
      const asked = await askMessages(stack.url, key, { directive: 'fault/stall@3', stream: true });
      const [last = ''] = asked.answer.body.toString().trimEnd().split('\n\n').slice(-1);
      const [name, data = ''] = last.split('\n');
      expect(name).toBe('event: error');
      expect(JSON.parse(data.slice(6))).toEqual({
        type: 'error',
        error: { message: expect.stringContaining('idle_timeout'), code: 'upstream_request_failed' },
      });
      expect(asked.answer.whole).toBe(true);
      expect(await stack.call(asked.id)).toMatchObject({ endReason: 'timeout', usageSource: 'estimated' });
      await expectFreeSlot(key);
    });
  });

  describe.concurrent('when its client leaves mid-stream', () => {
    it('where the provider stops then: its input as told, the output relayed by estimate', async () => {
      const key = await oneSlot();
      const fields = { directive: 'pace/20/500', stream: true };
      const asked = await askMessages(stack.url, key, fields, { leaveWhen: afterPieces(10) });
      const call = await stack.call(asked.id);
      const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
      expect(end.end).toBe('client_gone');
      expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'estimated', status: 200 });
      expect(call.usage.input).toBe(record(end.usageReported).input_tokens);
      expect(call.usage.output).toBeGreaterThan(5);
      expect(call.usage.output).toBeLessThan(500);
      expect(costOf(call)).toBe(BigInt(call.usage.input) * 1_000n + BigInt(call.usage.output) * 4_000n);
      expect(await linesOf(stack, asked.id)).toEqual([-costOf(call)]);
      await expectFreeSlot(key);
    });

    it('where the provider works on: it is drained and charged as reported', async () => {
      const key = await oneSlot();
      const fields = { model: 'test/drained-messages', directive: 'pace/20/60', stream: true };
      const asked = await askMessages(stack.url, key, fields, { leaveWhen: afterPieces(5) });
      const next = await askMessages(stack.url, key, {});
      expect([next.answer.status, codeOf(next.answer)]).toEqual([429, 'api_key_concurrency_exceeded']);
      const call = await stack.call(asked.id);
      const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
      expect(end).toMatchObject({ end: 'completed', outputTokens: 60 });
      expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'reported' });
      expect(await linesOf(stack, asked.id)).toEqual([-fairMessagesNano(end)]);
      await expectFreeSlot(key);
    });
  });

  it('when its client leaves before the headers: the input is charged by estimate', async () => {
    const { slug, id: workspaceId } = await stack.workspace({ rpm: 10_000 });
    const { key } = await stack.key(slug, { concurrency: 1 });
    const slow = { directive: 'fault/slow-first-byte?ms=3000' };
    const asked = await askMessages(stack.url, key, slow, { patienceMs: 500 });
    expect(asked.end).toBe('late');
    expect((await stack.sandbox.ended((await seenOf(stack, asked)).id)).end).toBe('client_gone');
    const call = await stack.call(await onlyCall(workspaceId));
    expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'estimated' });
    expect(costOf(call)).toBe(estimatedNano(asked.body.length, 0));
    await expectFreeSlot(key);
  });

  /** The one call of a workspace, whose client did not see its id. */
  async function onlyCall(workspaceId: string): Promise<string> {
    for (let tries = 0; tries < 200; tries += 1) {
      const { rows } = await stack.db.pool.query<{ id: string }>(
        'SELECT id FROM call WHERE workspace_id = $1',
        [workspaceId],
      );
      if (rows[0]) return rows[0].id;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error('the call did not reach the log');
  }
});
