import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addChains } from '#tests/gateway/routing/chains';
import { type RawProvider, startRawProvider, wholeAnswer } from '#tests/gateway/strange-answers/raw-provider';
import { closeBalanced } from '#tests/support/books';
import { askChat } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

const mebibyte = 1024 * 1024;
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const answered = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage,
});

describe('a long request (contract: body/sent-in-pieces)', () => {
  let provider: RawProvider;
  let stack: Stack;
  beforeAll(async () => {
    provider = await startRawProvider();
    stack = await joinStack();
    await addChains(stack, { 'strange/requests': [{ at: provider.url, name: 'echo' }] });
  });
  afterAll(async () => {
    await closeBalanced(stack).finally(() => provider.close());
  });

  async function own() {
    const { slug, id } = await stack.workspace({ rpm: 10_000, tpm: null });
    return { key: (await stack.key(slug, { concurrency: 1 })).key, workspaceId: id };
  }
  const fields = (directive: string, bytes = 0) => ({
    model: 'strange/requests',
    directive,
    user: 'x'.repeat(bytes),
  });

  it.each([200 * 1024, 256 * 1024, 300 * 1024 + 7, 5 * mebibyte])(
    'of %d bytes arrives as it was sent',
    async (bytes) => {
      const name = randomUUID();
      let got = '';
      provider.on(name, (socket, request) => {
        got = request;
        socket.write(wholeAnswer('200 OK', answered));
      });
      const { key } = await own();
      const asked = await askChat(stack.url, key, fields(name, bytes));
      expect(asked.answer).toMatchObject({ status: 200, whole: true });
      const [head = '', body] = got.split('\r\n\r\n');
      expect(body).toBe(asked.body.replace('"strange/requests"', '"echo"'));
      expect(head.match(/^content-length:/gim)).toHaveLength(1);
      expect(head).not.toMatch(/^transfer-encoding:/im);
    },
  );

  it('costs nothing when its client disconnects before the provider has received all of it', async () => {
    const name = randomUUID();
    const begun = new Promise<void>((resolve) => provider.onBeginning(name, () => resolve()));
    const { key, workspaceId } = await own();
    await askChat(stack.url, key, fields(name, 20 * mebibyte), { leaveAfter: begun });
    const find = async () => {
      const text = `SELECT status, end_reason, usage_source, cost_nano::text FROM call WHERE workspace_id = $1`;
      return (await stack.db.pool.query(text, [workspaceId])).rows;
    };
    const call = { status: 499, end_reason: 'client_gone', usage_source: 'none', cost_nano: '0' };
    await eventually(find, [call]);
  });

  it('that is answered before it was read does not block the next one', async () => {
    const [early, next] = [randomUUID(), randomUUID()];
    provider.onBeginning(early, (socket) => {
      socket.write(wholeAnswer('413 Too Large', '{"error":{"message":"too large"}}'));
    });
    provider.on(next, (socket) => {
      socket.write(wholeAnswer('200 OK', answered));
    });
    const { key } = await own();
    const refused = await askChat(stack.url, key, fields(early, 20 * mebibyte));
    expect(refused.answer).toMatchObject({ status: 413, whole: true });
    const asked = await askChat(stack.url, key, fields(next));
    expect(asked.answer).toMatchObject({ status: 200, whole: true });
    expect(await stack.call(refused.id)).toMatchObject({ status: 413, cost: '0', usageSource: 'none' });
  });
});
