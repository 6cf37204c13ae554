import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BudgetField, budgetFields } from '#tests/gateway/contract/budget-fields';
import { credentialOf } from '#tests/gateway/contract/speaker';
import { closeBalanced } from '#tests/support/books';
import { ask } from '#tests/support/chat-call';
import { expectRefusal } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

describe('the output budget that a provider is given (contract: admission/budget-injection)', () => {
  let stack: Stack;
  let keys: Map<number, string>;
  beforeAll(async () => {
    stack = await joinStack();
    const { slug } = await stack.workspace({
      credit: '50000',
      rpm: null,
      tpm: null,
      concurrency: null,
    });
    keys = new Map();
    for (const maxOutputTokens of [100, 16]) {
      keys.set(maxOutputTokens, (await stack.key(slug, { maxOutputTokens })).key);
    }
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  async function send(field: BudgetField, maximum: number, fields: string) {
    const key = keys.get(maximum) ?? '';
    const mark = randomUUID();
    const body = field.body(field.model, mark, fields);
    const headers = { ...credentialOf(field, key), 'anthropic-version': '2023-06-01' };
    const answer = await ask(stack.url, 'POST', field.target(field.model), headers, body);
    return { answer, key, mark, seen: await stack.sandbox.seen(mark) };
  }

  describe.concurrent.each(budgetFields)('$name', (field) => {
    it('is the request’s own up to the key’s maximum, and the maximum where it names none', async () => {
      for (const asked of ['100', null, 'null'] as const) {
        const { seen, mark } = await send(field, 100, field.asks(asked));
        const told = asked === '100' ? field.told(asked) : field.injected(asked, 100);
        const name = field.renames ? 'echo' : field.model;
        expect(seen.map(({ body }) => body)).toEqual([field.body(name, mark, told)]);
      }
    });

    it('that passes the key’s maximum, or is none, is refused before any provider is asked', async () => {
      for (const [asked, code] of [
        ['101', 'max_output_tokens_exceeded'],
        ['50.5', 'invalid_body'],
      ] as const) {
        const { answer, key, seen } = await send(field, 100, field.asks(asked));
        expectRefusal(answer, code, key);
        expect(seen).toEqual([]);
      }
    });

    it('bounds what the model generates, and with it the charge', async () => {
      const { answer } = await send(field, 16, field.asks(null));
      const call = await stack.call(headerOf(answer, 'x-request-id') ?? '');
      expect([answer.status, call.usage.output]).toEqual([200, 16]);
    });
  });
});
