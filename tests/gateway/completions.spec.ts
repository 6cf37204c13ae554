import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeBalanced, costOf } from '#tests/support/books';
import { ask, bearer, codeOf } from '#tests/support/chat-call';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

const model = 'sandbox/completer';

describe('completions of prompts with the official openai SDK (contract: families/completions)', () => {
  let stack: Stack;
  let slug = '';
  let openai: OpenAI;
  beforeAll(async () => {
    stack = await joinStack();
    ({ slug } = await stack.workspace({ rpm: null, tpm: null }));
    openai = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: (await stack.key(slug)).key, maxRetries: 0 });
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  it('arrive whole, one for each prompt, and cost what their tokens cost', async () => {
    const { data: answer, response } = await openai.completions
      .create({ model, prompt: ['A calm sea', 'A storm'], max_tokens: 5 })
      .withResponse();
    expect(answer.choices.map(({ index }) => index)).toEqual([0, 1]);
    const call = await stack.call(response.headers.get('x-request-id') ?? '');
    const { prompt_tokens = 0, completion_tokens = 0 } = answer.usage ?? {};
    expect(call.usage).toMatchObject({ input: prompt_tokens, output: completion_tokens });
    expect(costOf(call)).toBe(BigInt(prompt_tokens) * 1_000n + BigInt(completion_tokens) * 2_000n);
  });

  it.each([true, false])('stream; usage is metered, asked for (%s) or not', async (asked) => {
    const { data: stream, response } = await openai.completions
      .create({
        model,
        prompt: 'Say [[echo?tokens=7]]',
        stream: true,
        ...(asked ? { stream_options: { include_usage: true } } : {}),
      })
      .withResponse();
    let text = '';
    let usages = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.text ?? '';
      if (chunk.usage) usages += 1;
    }
    expect(text).not.toBe('');
    expect(usages).toBe(asked ? 1 : 0);
    const call = await stack.call(response.headers.get('x-request-id') ?? '');
    expect(call).toMatchObject({ usageSource: 'reported', endReason: 'completed', streamed: true });
    expect(call.usage.output).toBe(7);
  });

  it.each([
    [{ prompt: ['a', 'b', 'c'], max_tokens: 20 }],
    [{ prompt: [[1, 2], [3], [4]], max_tokens: 20 }],
    [{ prompt: 'a', max_tokens: 20, n: 3 }],
    [{ prompt: 'a', max_tokens: 20, best_of: 3 }],
  ])('are refused if %j can be more than the key allows', async (body) => {
    const { key } = await stack.key(slug, { maxOutputTokens: 50 });
    const json = { 'content-type': 'application/json', ...bearer(key) };
    const send = (asked: object) =>
      ask(stack.url, 'POST', '/v1/completions', json, JSON.stringify({ model, ...asked }));
    expect(codeOf(await send(body))).toBe('max_output_tokens_exceeded');
    expect((await send({ ...body, max_tokens: 16 })).status).toBe(200);
  });

  it('get the maximum of the key as their budget if they name none', async () => {
    const { key } = await stack.key(slug, { maxOutputTokens: 4 });
    const own = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 0 });
    const { usage } = await own.completions.create({ model, prompt: 'Say [[echo?tokens=50]]' });
    expect(usage?.completion_tokens).toBe(4);
  });
});
