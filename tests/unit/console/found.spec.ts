import { expect, it } from 'vitest';
import { showFound } from '#lib/console/show/found';

it.each([
  [{ calls: 0, cost: '0', more: false }, '0 calls, $0.00.'],
  [{ calls: 1, cost: '0.0000042', more: false }, '1 call, $0.0000042.'],
  [{ calls: 1234, cost: '12.5', more: false }, '1,234 calls, $12.50.'],
  [{ calls: 10_000, cost: null, more: true }, 'More than 10,000 calls.'],
  [{ calls: 37, cost: null, more: true }, '37 calls or more.'],
])('what a search found is said without counting everything: %j', (counted, text) => {
  expect(showFound(counted)).toBe(text);
});
