import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askResponses } from '#tests/gateway/responses/call';
import { closeBalanced, costOf, linesOf } from '#tests/support/books';
import { type Asked, codeOf, jsonOf, receivedOf, seenOf } from '#tests/support/chat-call';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';

type Figures = Readonly<Record<string, number>>;

describe('a request for a response', () => {
  let stack: Stack;
  let workspace: string;
  beforeAll(async () => {
    stack = await joinStack();
    workspace = (await stack.workspace({ rpm: 10_000 })).slug;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });
  const newKey = async (settings = {}) => (await stack.key(workspace, settings)).key;
  const ask = async (fields: Parameters<typeof askResponses>[2], settings = {}) =>
    askResponses(stack.url, await newKey(settings), fields);
  const usageIn = (asked: Asked): Figures => record(jsonOf(asked.answer).usage) as Figures;
  const figure = (value: number | undefined): bigint => BigInt(value ?? 0);

  describe.concurrent('goes up', () => {
    it('with the operator’s credential alone', async () => {
      const { headers } = await seenOf(stack, await ask({}));
      expect(headers.authorization).toMatch(/^sha256:/);
      expect(headers).not.toHaveProperty('openai-organization');
    });

    it('to the next target when the first cannot be reached', async () => {
      const asked = await ask({ model: 'test/responses-fall-back' });
      expect(headerOf(asked.answer, 'x-answered-provider')).toBe('drained');
      expect(headerOf(asked.answer, 'x-attempts')).toBe('2');
    });

    it('only to a model that speaks the family, unless it may be translated', async () => {
      const headers = { 'x-translate': 'never' };
      const asked = await askResponses(stack.url, await newKey(), { model: 'test/drained' }, { headers });
      expect([asked.answer.status, codeOf(asked.answer)]).toEqual([400, 'model_not_allowed']);
      expect(record(jsonOf(asked.answer).error).message).toContain('/v1/chat/completions');
    });

    it('not at all where only a template names its model', async () => {
      const asked = await ask({ model: undefined, prompt: { id: 'pmpt_1' } });
      expect([asked.answer.status, codeOf(asked.answer)]).toEqual([400, 'invalid_body']);
    });

    it('as it is when it asks for the background without being kept: the provider refuses it itself', async () => {
      const asked = await ask({ background: true, store: false });
      expect([asked.answer.status, record(jsonOf(asked.answer).error).param]).toEqual([400, 'background']);
      expect(await stack.call(asked.id)).toMatchObject({ cost: '0', errorCode: null });
    });
  });

  describe.concurrent('is charged', () => {
    it('for cache reads and writes, at their own prices', async () => {
      const model = 'sandbox/priced-cache';
      const say = `${'cached prefix '.repeat(400)}${workspace}`;
      const one = await askResponses(stack.url, await newKey(), { model, say });
      const usage = usageIn(one);
      const written = record(usage.input_tokens_details).cache_write_tokens as number;
      expect(written).toBeGreaterThan(0);
      expect(costOf(await stack.call(one.id))).toBe(
        figure((usage.input_tokens ?? 0) - written) * 2_000n +
          figure(written) * 2_500n +
          figure(usage.output_tokens) * 8_000n,
      );
      const two = await askResponses(stack.url, await newKey(), { model, say });
      const read = record(usageIn(two).input_tokens_details).cached_tokens as number;
      expect(read).toBeGreaterThan(0);
      expect((await stack.call(two.id)).usage).toMatchObject({ cachedInput: read });
    });

    it.each([false, true])('for its reasoning (stream: %s)', async (stream) => {
      const asked = await ask({ model: 'sandbox/reasoner', stream });
      const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
      const usage = record(end.usageReported) as Figures;
      const call = await stack.call(asked.id);
      expect(call.usage).toMatchObject({ reasoning: 24, output: usage.output_tokens });
      expect(costOf(call)).toBe(
        figure(usage.input_tokens) * 1_100n + figure((usage.output_tokens ?? 0) - 24) * 4_400n + 24n * 5_000n,
      );
    });

    it('for each search, beside its tokens', async () => {
      const asked = await ask({
        model: 'sandbox/priced-cache',
        say: 'search',
        tools: [{ type: 'web_search' }],
      });
      const usage = usageIn(asked);
      const call = await stack.call(asked.id);
      expect(call.usage.webSearches).toBe(1);
      expect(costOf(call)).toBe(
        figure(usage.input_tokens) * 2_000n + figure(usage.output_tokens) * 8_000n + 10_000_000n,
      );
    });

    it('for the reported usage of a response that its budget cut short', async () => {
      const asked = await ask({ directive: 'echo?tokens=90', max_output_tokens: 16 });
      expect(jsonOf(asked.answer)).toMatchObject({ status: 'incomplete', usage: { output_tokens: 16 } });
      const call = await stack.call(asked.id);
      expect(await linesOf(stack, asked.id)).toEqual([-costOf(call)]);
      expect(costOf(call)).toBe(figure(usageIn(asked).input_tokens) * 1_000n + 16n * 4_000n);
    });
  });

  describe.concurrent('that has pictures made', () => {
    const model = 'test/responses-drained';
    const tool = (name: unknown) => ({ tools: [{ type: 'image_generation', model: name }] });

    it.each([false, true])('pays their model’s own price for them (stream: %s)', async (stream) => {
      const asked = await ask({ model, say: 'draw', stream, ...tool('test/pictures') });
      expect(await receivedOf(stack, asked)).toMatchObject({ model: 'echo', ...tool('mini') });
      const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
      const usage = record(end.usageReported) as Figures;
      const call = await stack.call(asked.id);
      const own = figure(usage.input_tokens) * 1_000n + figure(usage.output_tokens) * 4_000n;
      expect(costOf(call)).toBe(own + 40n * 5_000n + 8n * 20_000n + 272n * 40_000n);
      expect(call.lines.map((line) => line.class)).toEqual([
        'input',
        'output',
        'input:mini',
        'output:mini',
        'imageOutput:mini',
      ]);
      expect(call.usage).toMatchObject({ output: (usage.output_tokens ?? 0) + 280, images: 1 });
      expect(call.flags).toEqual([]);
    });

    it('pays the price of the provider’s own choice where it names no model', async () => {
      const asked = await ask({ model, say: 'draw', tools: [{ type: 'image_generation' }] });
      const usage = usageIn(asked);
      const own = figure(usage.input_tokens) * 1_000n + figure(usage.output_tokens) * 4_000n;
      const call = await stack.call(asked.id);
      expect(costOf(call)).toBe(own + 40n * 6_000n + 280n * 30_000n);
      expect(call.flags).toEqual([]);
    });

    it.each([
      ['unknown', 'test/none', null],
      ['outside the key’s scope', 'test/pictures', ['test/responses-drained']],
      ['without an offer at the same provider', 'sandbox/mini', null],
    ])('is refused when their model is %s', async (_why, name, models) => {
      const asked = await ask({ model, ...tool(name) }, models ? { models } : {});
      expect([asked.answer.status, codeOf(asked.answer)]).toEqual([400, 'model_not_allowed']);
      expect(await stack.sandbox.seen(asked.mark)).toEqual([]);
    });

    it('is refused when the name is no string', async () => {
      const asked = await ask({ model, ...tool(5) });
      expect([asked.answer.status, codeOf(asked.answer)]).toEqual([400, 'invalid_body']);
    });
  });
});
