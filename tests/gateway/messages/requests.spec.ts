import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askMessages } from '#tests/gateway/messages/call';
import { closeBalanced, costOf, linesOf } from '#tests/support/books';
import { codeOf, jsonOf, receivedOf, seenOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf, requestText, talk } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';

const count = { path: '/v1/messages/count_tokens' };

describe('a request of the messages family', () => {
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

  describe.concurrent('goes up (contract: families/anthropic-version)', () => {
    it('with the client’s version and betas, without its credential, and with the operator’s own', async () => {
      const asked = await askMessages(
        stack.url,
        await newKey(),
        {},
        {
          headers: { 'anthropic-beta': 'one-1,two-2', 'anthropic-workspace-id': 'w', 'x-custom': 'c' },
          path: '/v1/messages?fields=content&beta=true&%24fields=content',
        },
      );
      expect(asked.answer.status).toBe(200);
      const { headers, query } = await seenOf(stack, asked);
      expect(headers).toMatchObject({
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'one-1,two-2',
        'x-api-key': expect.stringMatching(/^sha256:/),
      });
      expect(query).toBe('beta=true');
      for (const name of ['authorization', 'anthropic-workspace-id', 'x-custom']) {
        expect(headers).not.toHaveProperty(name);
      }
    });

    it('with the operator’s credential in the header that the provider’s address takes, which no answer shows', async () => {
      for (const [model, status] of [
        ['test/bearer-messages', 200],
        ['test/bearer-refuses', 401],
      ] as const) {
        const asked = await askMessages(stack.url, await newKey(), { model });
        expect(asked.answer.status).toBe(status);
        const { headers } = await seenOf(stack, asked);
        expect(headers.authorization).toMatch(/^sha256:/);
        expect(headers).not.toHaveProperty('x-api-key');
        const answered = Buffer.concat([
          Buffer.from(JSON.stringify(asked.answer.headers)),
          asked.answer.body,
        ]);
        expect(answered.includes(stack.sandbox.key)).toBe(false);
        const call = await stack.call(asked.id);
        expect(JSON.stringify(call)).not.toContain(stack.sandbox.key);
      }
    });

    it('without the betas that the catalogue denies', async () => {
      const asked = await askMessages(
        stack.url,
        await newKey(),
        { model: 'test/drained-messages' },
        { headers: { 'anthropic-beta': 'one-1, beta-denied,two-2' } },
      );
      const { headers } = await seenOf(stack, asked);
      expect(headers['anthropic-beta']?.split(',').map((beta) => beta.trim())).toEqual(['one-1', 'two-2']);
    });

    it('only to a model that speaks the family, unless it may be translated', async () => {
      const headers = { 'x-translate': 'never' };
      const asked = await askMessages(stack.url, await newKey(), { model: 'test/drained' }, { headers });
      expect([asked.answer.status, codeOf(asked.answer)]).toEqual([400, 'model_not_allowed']);
      expect(record(jsonOf(asked.answer).error).message).toContain('/v1/chat/completions');
    });

    it('a request falls back to the next target, with the names of that target', async () => {
      const asked = await askMessages(stack.url, await newKey(), { model: 'test/messages-fall-back' });
      expect(headerOf(asked.answer, 'x-answered-provider')).toBe('drained');
      expect(headerOf(asked.answer, 'x-attempts')).toBe('2');
    });
  });

  describe.concurrent('has its output budget checked', () => {
    it.each([
      ['its own', { max_tokens: 101 }],
      ['its fallback’s', { max_tokens: 5, fallbacks: [{ model: 'sandbox/mini', max_tokens: 101 }] }],
      [
        'its advisor’s',
        { max_tokens: 5, tools: [{ type: 'advisor_1', model: 'sandbox/mini', max_tokens: 101 }] },
      ],
    ])('against the key’s maximum: %s', async (_whose, fields) => {
      const asked = await askMessages(stack.url, await newKey({ maxOutputTokens: 100 }), fields);
      expect([asked.answer.status, codeOf(asked.answer)]).toEqual([400, 'max_output_tokens_exceeded']);
    });

    it('and injected where it names none', async () => {
      const key = await newKey({ maxOutputTokens: 100 });
      const asked = await askMessages(stack.url, key, { max_tokens: null, directive: 'echo?tokens=500' });
      expect(await receivedOf(stack, asked)).toMatchObject({ max_tokens: 100 });
      expect(jsonOf(asked.answer)).toMatchObject({
        stop_reason: 'max_tokens',
        usage: { output_tokens: 100 },
      });
    });

    it('and 0 is legal: it fills the cache', async () => {
      const system = [
        { type: 'text', text: 'warm '.repeat(500), cache_control: { type: 'ephemeral', ttl: '1h' } },
      ];
      const asked = await askMessages(stack.url, await newKey(), {
        model: 'sandbox/priced-cache',
        max_tokens: 0,
        system,
      });
      const { usage } = record(jsonOf(asked.answer)) as { usage: Record<string, number> };
      expect(usage).toMatchObject({ output_tokens: 0 });
      const written = usage.cache_creation_input_tokens ?? 0;
      expect(written).toBeGreaterThan(0);
      const call = await stack.call(asked.id);
      expect(call.usage).toMatchObject({ cacheWrite1h: written, cacheWrite5m: 0, output: 0 });
      const input = BigInt(usage.input_tokens ?? 0);
      expect(costOf(call)).toBe(BigInt(written) * 4_000n + input * 2_000n);
    });
  });

  describe.concurrent('that names further models (contract: admission/nested-models)', () => {
    const advisor = (model: unknown) => ({ tools: [{ type: 'advisor_20260301', name: 'advisor', model }] });

    it('has each replaced by the provider’s name, and is charged each one’s price for what it did', async () => {
      const asked = await askMessages(stack.url, await newKey(), advisor('sandbox/mini'));
      expect(await receivedOf(stack, asked)).toMatchObject(advisor('mini'));
      const answer = record(jsonOf(asked.answer)) as {
        usage: Record<string, number> & { iterations: unknown[] };
      };
      const advised = record(answer.usage.iterations[1]) as Record<string, number>;
      const call = await stack.call(asked.id);
      const own =
        BigInt(answer.usage.input_tokens ?? 0) * 1_000n + BigInt(answer.usage.output_tokens ?? 0) * 4_000n;
      const other = BigInt(advised.input_tokens ?? 0) * 100n + BigInt(advised.output_tokens ?? 0) * 400n;
      expect(costOf(call)).toBe(own + other);
      expect(call.usage.output).toBe((answer.usage.output_tokens ?? 0) + (advised.output_tokens ?? 0));
      expect(call.lines.map((line) => line.class)).toEqual(['input', 'output', 'input:mini', 'output:mini']);
      expect(call.flags).toEqual([]);
    });

    it.each([false, true])('pays the fallback’s price when that one served (stream: %s)', async (stream) => {
      const asked = await askMessages(stack.url, await newKey(), {
        stream,
        say: 'DECLINE',
        max_tokens: 200,
        fallbacks: [{ model: 'sandbox/mini' }],
      });
      const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
      const usage = record(end.usageReported) as Record<string, number>;
      const call = await stack.call(asked.id);
      expect(costOf(call)).toBe(
        BigInt(usage.input_tokens ?? 0) * 100n + BigInt(usage.output_tokens ?? 0) * 400n,
      );
      expect(call.usage).toMatchObject({ input: usage.input_tokens, output: usage.output_tokens });
    });

    it.each([
      ['unknown', 'sandbox/none', null, 'unknown'],
      ['outside the key’s scope', 'sandbox/mini', ['sandbox/echo'], 'does not allow'],
      ['without an offer at the same provider', 'test/drained', null, 'sandbox/echo'],
    ])('is refused when one is %s', async (_why, model, models, told) => {
      const key = await newKey(models ? { models } : {});
      for (const options of [{}, count]) {
        const asked = await askMessages(stack.url, key, advisor(model), options);
        expect([asked.answer.status, codeOf(asked.answer)]).toEqual([400, 'model_not_allowed']);
        expect(record(jsonOf(asked.answer).error).message).toContain(told);
        expect(await stack.sandbox.seen(asked.mark)).toEqual([]);
      }
    });

    it('goes only where all of them are offered', async () => {
      const fields = { model: 'test/messages-fall-back', ...advisor('test/drained-messages') };
      const asked = await askMessages(stack.url, await newKey(), fields);
      expect(headerOf(asked.answer, 'x-answered-provider')).toBe('drained');
      expect(headerOf(asked.answer, 'x-attempts')).toBe('1');
    });

    it('is refused when a name is not a string or occurs twice', async () => {
      const key = await newKey();
      for (const model of [5, ['sandbox/mini'], {}]) {
        const asked = await askMessages(stack.url, key, advisor(model));
        expect([asked.answer.status, codeOf(asked.answer)]).toEqual([400, 'invalid_body']);
      }
    });
  });

  describe.concurrent('that counts tokens', () => {
    it('costs nothing, whatever is left to spend, and is logged', async () => {
      const poor = await stack.workspace({ credit: '0' });
      const { key } = await stack.key(poor.slug, { maxOutputTokens: 10, tpm: 1 });
      const asked = await askMessages(stack.url, key, { max_tokens: 5_000 }, count);
      expect([asked.answer.status, jsonOf(asked.answer)]).toEqual([
        200,
        { input_tokens: expect.any(Number) },
      ]);
      expect(headerOf(asked.answer, 'x-ratelimit-remaining-tokens')).toBe('1');
      expect((await seenOf(stack, asked)).path).toBe('/messages/count_tokens');
      expect(await stack.call(asked.id)).toMatchObject({
        operation: 'messages.count_tokens',
        status: 200,
        cost: '0',
        usageSource: 'none',
        endReason: 'completed',
      });
      expect(await linesOf(stack, asked.id)).toEqual([]);
      const create = await askMessages(stack.url, key, { max_tokens: 5 });
      expect([create.answer.status, codeOf(create.answer)]).toEqual([402, 'insufficient_balance']);
    });

    it('counts as a request', async () => {
      const key = await newKey({ rpm: 1 });
      expect((await askMessages(stack.url, key, {}, count)).answer.status).toBe(200);
      const next = await askMessages(stack.url, key, {}, count);
      expect([next.answer.status, codeOf(next.answer)]).toEqual([429, 'api_key_rpm_exceeded']);
    });

    it('holds a slot while it runs and costs nothing when its client leaves', async () => {
      const key = await newKey({ concurrency: 1 });
      const slow = { say: `slow ${randomUUID()}`, directive: 'fault/slow-first-byte?ms=100000' };
      const another = async () => (await askMessages(stack.url, key, {}, count)).answer;
      const meanwhile = stack.sandbox.begun(slow.say).then(another);
      const left = await askMessages(stack.url, key, slow, { ...count, leaveAfter: meanwhile });
      const next = await meanwhile;
      expect(left.answer, 'nobody answers the call that holds the slot').toMatchObject({ status: 0 });
      expect([next.status, codeOf(next)]).toEqual([429, 'api_key_concurrency_exceeded']);
      await eventually(async () => (await another()).status, 200);
    });

    it('needs a model in scope, and passes the provider’s refusal', async () => {
      const scoped = await askMessages(stack.url, await newKey({ models: ['sandbox/mini'] }), {}, count);
      expect([scoped.answer.status, codeOf(scoped.answer)]).toEqual([400, 'model_not_allowed']);
      const refused = await askMessages(stack.url, await newKey(), { directive: 'fault/status-404' }, count);
      expect([refused.answer.status, jsonOf(refused.answer)]).toMatchObject([
        404,
        { error: { type: 'not_found_error' } },
      ]);
      expect(await stack.call(refused.id)).toMatchObject({ cost: '0', status: 404 });
    });

    it('is POST alone', async () => {
      const { answers } = await talk(stack.url, requestText('GET', count.path));
      expect(answers[0] && [answers[0].status, headerOf(answers[0], 'allow')]).toEqual([405, 'POST']);
    });
  });

  it('is charged for the searches that the provider ran, reported at the end of its stream', async () => {
    const asked = await askMessages(stack.url, await newKey(), {
      model: 'sandbox/priced-cache',
      stream: true,
      say: 'Please search',
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    });
    const end = await stack.sandbox.ended((await seenOf(stack, asked)).id);
    const usage = record(end.usageReported) as Record<string, number>;
    const call = await stack.call(asked.id);
    expect(call.usage).toMatchObject({ webSearches: 1, input: usage.input_tokens });
    expect(costOf(call)).toBe(
      10_000_000n + BigInt(usage.input_tokens ?? 0) * 2_000n + BigInt(usage.output_tokens ?? 0) * 8_000n,
    );
  });
});
