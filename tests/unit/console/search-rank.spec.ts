import { expect, it } from 'vitest';
import { rankOf } from '#lib/console/search-rank';

it('ranks a name that a search spells out before one that begins with it, and that before one that contains it', () => {
  const names = ['Administrators', 'openai/gpt-4o-mini', 'mistral/ministral-3b', 'Billing', 'sandbox/mini'];
  const found = names.toSorted((one, other) => rankOf(one, 'Mini ') - rankOf(other, 'Mini '));
  expect(found).toEqual([
    'sandbox/mini',
    'mistral/ministral-3b',
    'openai/gpt-4o-mini',
    'Administrators',
    'Billing',
  ]);
  expect(names.map((name) => rankOf(name, 'mini'))).toEqual([3, 2, 1, 4, 0]);
});

it('ranks all names alike while nothing is searched', () => {
  expect(['Overview', 'Keys'].map((name) => rankOf(name, ' '))).toEqual([0, 0]);
});
