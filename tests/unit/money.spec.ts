import { describe, expect, it } from 'vitest';
import { parseFields } from '#lib/control/operations/field/field';
import { amount, cap } from '#lib/control/operations/field/kinds';
import { parseUsd, plainUsd } from '#lib/core/money';

describe('an amount as people type it', () => {
  it.each([
    ['25', '25'],
    ['25.50', '25.50'],
    ['$1,000', '1000'],
    [' $ 1,234,567.89 ', '1234567.89'],
    ['-$25.50', '-25.50'],
    ['−0.25', '-0.25'],
  ])('is read: %s', (typed, plain) => {
    expect(plainUsd(typed)).toBe(plain);
    expect(() => parseUsd(plain)).not.toThrow();
  });

  it.each(['1,5', '1.000,50', '1,00,000', '$', '10 €', '1e3', '25 USD', ''])(
    'is not guessed: %s',
    (typed) => {
      expect(plainUsd(typed)).toBe(typed);
      expect(() => parseUsd(typed)).toThrow(RangeError);
    },
  );

  it('is read by every field of a form or command that takes money, and refused in JSON', () => {
    const facts = { label: 'Cap', help: '' };
    for (const field of [cap(facts), amount(facts)]) {
      expect(parseFields({ field }, { field: field.fromText('$1,000') })).toEqual({
        field: 1_000_000_000_000n,
      });
      expect(() => parseFields({ field }, { field: '$1,000' })).toThrow('an amount of dollars');
    }
  });
});
