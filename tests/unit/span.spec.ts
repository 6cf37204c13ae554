import { describe, expect, it } from 'vitest';
import { parseSpan, plainSpan } from '#lib/core/span';

describe('a time as people write it', () => {
  it.each([
    ['30 s', 30_000],
    ['2 min', 120_000],
    ['2m', 120_000],
    ['1 Hour', 3_600_000],
    ['1 min 30 s', 90_000],
    ['1h30min', 5_400_000],
    ['1.5s', 1_500],
    ['250 ms', 250],
  ])('"%s" is %i ms', (text, ms) => {
    expect(parseSpan(text)).toBe(ms);
  });

  it.each(['', '30', 's', '-1 s', '1,5 s', '1 day', '1 s x', '30 30 s', `${'9'.repeat(40)} s`])(
    '"%s" is not a time with a unit',
    (text) => {
      expect(parseSpan(text)).toBeNull();
    },
  );

  it.each([
    [0, '0 ms'],
    [10, '10 ms'],
    [1_500, '1.5 s'],
    [5_000, '5 s'],
    [90_000, '90 s'],
    [120_000, '2 min'],
    [3_600_000, '1 h'],
    [5_400_000, '90 min'],
    [1_234_567, '1234.567 s'],
  ])('%i ms is written "%s", and read as the same', (ms, text) => {
    expect(plainSpan(ms)).toBe(text);
    expect(parseSpan(text)).toBe(ms);
  });
});
