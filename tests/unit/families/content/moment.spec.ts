import { expect, it } from 'vitest';
import { isMoment } from '#lib/core/families/generate-content/moment';

it.each([
  ['2027-01-31T14:00:00Z', true],
  ['2028-02-29T14:00:00.123456789Z', true],
  ['2027-02-30T00:00:00Z', false],
  ['2027-04-31T00:00:00Z', false],
  ['2027-01-01T24:00:00Z', false],
  ['0000-01-01T00:00:00Z', false],
  ['2027-01-31', false],
  [1, false],
])('%j is a time that the database can read: %j', (value, is) => {
  expect(isMoment(value)).toBe(is);
});
