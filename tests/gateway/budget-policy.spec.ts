import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '#lib/errors';
import { record } from '#lib/sandbox/content/tool-call';
import { expectBalancedBooks } from '#tests/support/books';
import { ask, bearer, jsonOf, receivedOf } from '#tests/support/chat-call';
import { expectRefusal } from '#tests/support/refusals';
import { type Stack, startStack } from '#tests/support/stack';

/**
 * A request's budget fields, as JSON text before the closing brace; then what becomes of it: the text
 * that the provider receives in their place, or the refusal.
 */
type Case = readonly [fields: string, then: string | ErrorCode];

/** With a policy of 100 output tokens, at a provider that is told by `max_tokens`. */
const withPolicy: readonly Case[] = [
  ['', ',"max_tokens":100'],
  [',"max_tokens":null', ',"max_tokens":100'],
  [',"max_tokens": null ,"x":1', ',"max_tokens": 100 ,"x":1'],
  [',"max_completion_tokens":null', ',"max_completion_tokens":null,"max_tokens":100'],
  [',"max_tokens":50', ',"max_tokens":50'],
  [',"max_tokens":5e1', ',"max_tokens":5e1'],
  [',"max_tokens":99.0', ',"max_tokens":99.0'],
  [',"max_tokens":100', ',"max_tokens":100'],
  [',"max_tokens":1e2', ',"max_tokens":1e2'],
  [',"max_tokens":0', ',"max_tokens":0'],
  [',"max_tokens":-0', ',"max_tokens":-0'],
  [',"max_completion_tokens":50', ',"max_tokens":50'],
  [',"max_completion_tokens" : 5e1 ', ',"max_tokens" : 5e1 '],
  [',"max_tokens":null,"max_completion_tokens":50', ',"max_completion_tokens":null,"max_tokens":50'],
  [',"n":3', ',"n":3,"max_tokens":33'],
  [',"n":100', ',"n":100,"max_tokens":1'],
  [',"n":2,"max_tokens":50', ',"n":2,"max_tokens":50'],
  [',"n":2,"max_tokens":51', 'max_output_tokens_exceeded'],
  [',"n":2,"max_completion_tokens":51', 'max_output_tokens_exceeded'],
  [',"n":101', 'max_output_tokens_exceeded'],
  [',"max_tokens":50,"max_completion_tokens":60', ',"max_tokens":50,"max_completion_tokens":60'],
  [',"\\u006dax_tokens":50', ',"\\u006dax_tokens":50'],
  [',"\\u006dax_tokens":null', ',"\\u006dax_tokens":100'],
  [',"max_tokens":101', 'max_output_tokens_exceeded'],
  [',"max_completion_tokens":101', 'max_output_tokens_exceeded'],
  [',"max_tokens":50,"max_completion_tokens":101', 'max_output_tokens_exceeded'],
  [',"max_tokens":101,"max_completion_tokens":50', 'max_output_tokens_exceeded'],
  [',"max_tokens":1e3', 'max_output_tokens_exceeded'],
  [',"\\u006dax_tokens":101', 'max_output_tokens_exceeded'],
  [',"max_tokens":9007199254740991', 'max_output_tokens_exceeded'],
  [',"max_tokens":-1', 'invalid_body'],
  [',"max_tokens":50.5', 'invalid_body'],
  [',"max_tokens":"50"', 'invalid_body'],
  [',"max_tokens":true', 'invalid_body'],
  [',"max_tokens":[50]', 'invalid_body'],
  [',"max_tokens":{}', 'invalid_body'],
  [',"max_completion_tokens":"50"', 'invalid_body'],
  [',"max_tokens":50,"max_tokens":50', 'invalid_body'],
  [',"max_tokens":50,"MAX_TOKENS":500', 'invalid_body'],
];

/** Without a policy nothing is added, and only what is no budget is refused. */
const withoutPolicy: readonly Case[] = [
  [',"max_completion_tokens":50', ',"max_tokens":50'],
  [',"n":101,"max_completion_tokens":7', ',"n":101,"max_tokens":7'],
  ...withPolicy
    .filter(([fields]) => !/"max_completion_tokens" ?:\s?\d/.test(fields) || /"max_tokens":\d/.test(fields))
    .map(([fields, then]): Case => [fields, then === 'invalid_body' ? then : fields]),
];

describe('the output-token policy of a key', () => {
  let stack: Stack;
  let workspace: string;
  beforeAll(async () => {
    stack = await startStack();
    workspace = (await stack.workspace({ credit: '50000', rpm: 10_000, tpm: 'none' })).slug;
  });
  afterAll(async () => {
    await expectBalancedBooks(stack).finally(() => stack.close());
    expect(stack.log()).toBe('');
  });

  async function send(key: string, fields: string, model = 'sandbox/echo') {
    const mark = randomUUID();
    const body = `{"model":"${model}","messages":[{"role":"user","content":"${mark}"}]${fields}}`;
    const answer = await ask(stack.url, 'POST', '/v1/chat/completions', bearer(key), body);
    return { mark, answer };
  }

  async function check(maxOutputTokens: number | null, [fields, then]: Case, model?: string): Promise<void> {
    const { key } = await stack.key(workspace, { maxOutputTokens });
    const { mark, answer } = await send(key, fields, model);
    if (then === 'invalid_body' || then === 'max_output_tokens_exceeded') {
      expectRefusal(answer, then, key);
      expect(await stack.sandbox.seen(mark)).toEqual([]);
      return;
    }
    const [seen] = await stack.sandbox.seen(mark);
    expect(seen?.body).toBe(`{"model":"echo","messages":[{"role":"user","content":"${mark}"}]${then}}`);
  }

  describe.concurrent('of 100 tokens', () => {
    it.each(withPolicy)('%s → %s', (fields, then) => check(100, [fields, then]));
  });
  describe.concurrent('that sets none', () => {
    it.each(withoutPolicy)('%s → %s', (fields, then) => check(null, [fields, then]));
  });
  describe.concurrent('above what the model makes', () => {
    it.each([
      ['', ''],
      [',"max_tokens":null', ',"max_tokens":null'],
      [',"max_tokens":65536', ',"max_tokens":65536'],
      [',"max_tokens":65537', 'max_output_tokens_exceeded'],
    ] as const)('%s → %s', (fields, then) => check(65_536, [fields, then]));
  });
  describe.concurrent('at a provider that is told by max_completion_tokens', () => {
    it.each([
      ['', ',"max_completion_tokens":100'],
      [',"max_completion_tokens":null', ',"max_completion_tokens":100'],
      [',"max_tokens":null', ',"max_tokens":null,"max_completion_tokens":100'],
      [',"max_tokens":50', ',"max_completion_tokens":50'],
      [',"max_tokens":101', 'max_output_tokens_exceeded'],
    ] as const)('%s → %s', (fields, then) => check(100, [fields, then], 'test/newer-budget'));
  });

  it('an empty object gets its first member without a comma', async () => {
    const { key } = await stack.key(workspace, { maxOutputTokens: 100 });
    const mark = randomUUID();
    const text = `{ "model" : "sandbox/echo", "messages":[{"role":"user","content":"${mark}"}], "stream":true, "stream_options":{} }`;
    expect((await ask(stack.url, 'POST', '/v1/chat/completions', bearer(key), text)).status).toBe(200);
    const [seen] = await stack.sandbox.seen(mark);
    expect(seen?.body).toBe(
      text
        .replace('"sandbox/echo"', '"echo"')
        .replace('{}', '{"include_usage":true}')
        .replace(/ }$/, ' ,"max_tokens":100}'),
    );
  });

  it('holds what the model writes, streamed or not, and the target that answers after a fall-back', async () => {
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

  it('is told to each target of a chain by the name that its own offer reads', async () => {
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
