import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '#lib/errors';
import { type BudgetField, budgetFields } from '#tests/gateway/contract/budget-fields';
import { credentialOf } from '#tests/gateway/contract/speaker';
import { expectBalancedBooks } from '#tests/support/books';
import { ask } from '#tests/support/chat-call';
import { expectRefusal } from '#tests/support/refusals';
import { type Stack, startStack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

/** What the models of these tests make at most. */
const modelMaximum = 65_536;

const policies = [
  { policy: 'none', maximum: null },
  { policy: 'below the model’s maximum', maximum: 100 },
  { policy: 'equal to it', maximum: modelMaximum },
  { policy: 'above it', maximum: modelMaximum + 1 },
] as const;

/** What a request names, beside a maximum; of a key without one, beside 100. */
const requests = [
  { asked: 'nothing', value: () => null },
  { asked: 'null', value: () => 'null' },
  { asked: 'less', value: (maximum: number) => String(maximum - 1) },
  { asked: 'as much', value: (maximum: number) => String(maximum) },
  { asked: 'as much, as a float', value: (maximum: number) => `${maximum}.0` },
  { asked: 'more', value: (maximum: number) => String(maximum + 1) },
  { asked: '0', value: () => '0' },
  { asked: 'a fraction', value: () => '50.5' },
  { asked: 'less than nothing', value: () => '-1' },
  { asked: 'a string', value: () => '"50"' },
] as const;

/** Decisions §5 over one request: the fields that the provider reads, or the refusal. */
function due(field: BudgetField, maximum: number | null, value: string | null): string | { code: ErrorCode } {
  if (value === null || value === 'null') {
    const injects = maximum !== null && maximum < modelMaximum;
    return injects ? field.injected(value, maximum) : field.asks(value);
  }
  const tokens = JSON.parse(value);
  if (typeof tokens !== 'number' || !Number.isInteger(tokens) || tokens < 0) return { code: 'invalid_body' };
  if (maximum !== null && tokens > maximum) return { code: 'max_output_tokens_exceeded' };
  return field.told(value);
}

describe('the output budget that a provider is given', () => {
  let stack: Stack;
  let keys: Map<number | null, string>;
  beforeAll(async () => {
    stack = await startStack();
    const { slug } = await stack.workspace({
      credit: '50000',
      rpm: 'none',
      tpm: 'none',
      concurrency: 'none',
    });
    keys = new Map();
    for (const maxOutputTokens of [...policies.map(({ maximum }) => maximum), 16]) {
      keys.set(maxOutputTokens, (await stack.key(slug, { maxOutputTokens })).key);
    }
  });
  afterAll(async () => {
    await expectBalancedBooks(stack).finally(() => stack.close());
    expect(stack.log()).toBe('');
  });

  async function send(field: BudgetField, maximum: number | null, fields: string) {
    const key = keys.get(maximum) ?? '';
    const mark = randomUUID();
    const body = field.body(field.model, mark, fields);
    const headers = { ...credentialOf(field, key), 'anthropic-version': '2023-06-01' };
    const answer = await ask(stack.url, 'POST', field.target(field.model), headers, body);
    return { answer, key, mark, seen: await stack.sandbox.seen(mark) };
  }

  describe.each(budgetFields)('$name', (field) => {
    describe.concurrent.each(policies)('with a key’s maximum $policy', ({ maximum }) => {
      it.each(requests)('when the request asks for $asked', async ({ value }) => {
        const asked = value(maximum ?? 100);
        const { answer, key, mark, seen } = await send(field, maximum, field.asks(asked));
        const wanted = due(field, maximum, asked);
        if (typeof wanted !== 'string') {
          expectRefusal(answer, wanted.code, key);
          expect(seen).toEqual([]);
          return;
        }
        const name = field.renames ? 'echo' : field.model;
        expect(seen.map(({ body }) => body)).toEqual([field.body(name, mark, wanted)]);
      });
    });

    it('bounds what the model writes, and the charge with it', async () => {
      const { answer } = await send(field, 16, field.asks(null));
      const call = await stack.call(headerOf(answer, 'x-request-id') ?? '');
      expect([answer.status, call.usage.output]).toEqual([200, 16]);
    });
  });
});
