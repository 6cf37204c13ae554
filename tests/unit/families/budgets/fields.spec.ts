import { describe, expect, it } from 'vitest';
import { type BudgetField, budgetFields } from '#tests/gateway/contract/budget-fields';
import { modelMaximum, toldBody } from '#tests/unit/families/budgets/told';

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

/**
 * The output budget of one request (contract: admission/output-budget): the fields that the provider reads, or the
 * code of the refusal.
 */
function due(field: BudgetField, maximum: number | null, value: string | null): string {
  if (value === null || value === 'null') {
    const injects = maximum !== null && maximum < modelMaximum;
    return injects ? field.injected(value, maximum) : field.asks(value);
  }
  const tokens = JSON.parse(value);
  if (typeof tokens !== 'number' || !Number.isInteger(tokens) || tokens < 0) return 'invalid_body';
  if (maximum !== null && tokens > maximum) return 'max_output_tokens_exceeded';
  return field.told(value);
}

describe.each(budgetFields)('the output budget that a provider is told by $name', (field) => {
  const offers = field.model === 'test/newer-budget' ? 'max_completion_tokens' : 'max_tokens';
  const told = (maximum: number | null, fields: string) =>
    toldBody(field.target(field.model), field.body(field.model, 'Hello', fields), maximum, offers);

  describe.each(policies)('with a key’s maximum $policy', ({ maximum }) => {
    it.each(requests)('when the request asks for $asked', ({ value }) => {
      const asked = value(maximum ?? 100);
      const wanted = due(field, maximum, asked);
      const refused = ['invalid_body', 'max_output_tokens_exceeded'].includes(wanted);
      const name = field.renames ? 'echo' : field.model;
      expect(told(maximum, field.asks(asked))).toBe(refused ? wanted : field.body(name, 'Hello', wanted));
    });
  });
});
