import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeBalanced } from '#tests/support/books';
import { ask, bearer, jsonOf, receivedOf } from '#tests/support/chat-call';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { record } from '#tools/sandbox/content/tool-call';

describe('the output-token policy of a key (contract: admission/output-budget, admission/budget-of-choices)', () => {
  let stack: Stack;
  let workspace: string;
  beforeAll(async () => {
    stack = await joinStack();
    workspace = (await stack.workspace({ credit: '50000', rpm: 10_000, tpm: null })).slug;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  async function send(key: string, fields: string, model = 'sandbox/echo') {
    const mark = randomUUID();
    const body = `{"model":"${model}","messages":[{"role":"user","content":"${mark}"}]${fields}}`;
    const answer = await ask(stack.url, 'POST', '/v1/chat/completions', bearer(key), body);
    return { mark, answer };
  }

  it('bounds what the model generates, streamed or not, also at the target that answers after a fallback', async () => {
    const { key } = await stack.key(workspace, { maxOutputTokens: 7 });
    const { answer } = await send(key, '');
    const [choice] = [jsonOf(answer).choices].flat();
    expect(record(choice).finish_reason).toBe('length');
    expect(record(jsonOf(answer).usage).completion_tokens).toBe(7);
    const streamed = await send(key, ',"stream":true');
    expect(streamed.answer.body.toString()).toContain('"finish_reason":"length"');
    const fallen = await send(key, '', 'test/falls-back');
    expect(fallen.answer.status).toBe(200);
    expect(await receivedOf(stack, fallen)).toMatchObject({ model: 'echo', max_tokens: 7 });
  });

  it.each([
    ',"max_tokens":9007199254740991',
    ',"max_tokens":9007199254740991,"n":9007199254740991',
    ',"n":9007199254740991',
  ])("a figure beyond all money is the provider's to refuse: %s", async (fields) => {
    const { key } = await stack.key(workspace, { dailyCap: '10' });
    const { answer, mark } = await send(key, fields, 'sandbox/fault-status-400');
    expect(answer.status).toBe(400);
    expect(await stack.sandbox.seen(mark)).toHaveLength(1);
    expect((await send(key, '')).answer.status).toBe(200);
  });

  it('holds for several answers together', async () => {
    const { key } = await stack.key(workspace, { maxOutputTokens: 7 });
    const { answer } = await send(key, ',"n":3');
    expect(record(jsonOf(answer).usage).completion_tokens).toBe(6);
  });

  it('is sent to each target of a chain under the name that its own offer reads', async () => {
    const { key } = await stack.key(workspace, { maxOutputTokens: 100 });
    const { mark, answer } = await send(key, ',"max_completion_tokens":5', 'test/mixed-budgets');
    expect(answer.status).toBe(200);
    const bodies = (await stack.sandbox.seen(mark)).map(({ body }) => body ?? '');
    expect(bodies.map((body) => /"(max_\w+)":5}$/.exec(body)?.[1])).toEqual([
      'max_completion_tokens',
      'max_tokens',
    ]);
  });
});
