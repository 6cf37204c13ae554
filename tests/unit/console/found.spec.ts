import { expect, it } from 'vitest';
import { showFound } from '#lib/console/show/found';

it.each([
  [{ calls: 0, more: false }, '0 calls.'],
  [{ calls: 1, more: false }, '1 call.'],
  [{ calls: 1234, more: false }, '1,234 calls.'],
  [{ calls: 10_000, more: true }, 'More than 10,000 calls.'],
  [{ calls: 37, more: true }, '37 calls or more.'],
])('what a search found is said without counting everything: %j', (counted, text) => {
  expect(showFound(counted)).toBe(text);
});
