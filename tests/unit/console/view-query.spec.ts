import { expect, it } from 'vitest';
import { usageParameters } from '#lib/console/usage/parameters';
import { sameQuery, viewQuery } from '#lib/console/view-query';
import { viewParameters } from '#lib/control/operations/view/settings';

const url = new URLSearchParams('after=x&status=5xx&sort=-cost&live=true&model=');

it.each([
  [null, 'status=5xx&sort=-cost'],
  ['cost.key', 'status=5xx&sort=-cost&columns=cost.key'],
])('a view keeps the filters, order and columns %s of a URL, and not its place', (columns, kept) => {
  expect(viewQuery(['status', 'sort', 'model', 'columns'], url, columns)).toBe(kept);
});

it('a view of the usage page may have each parameter of its charts', () => {
  expect(viewParameters.usage).toEqual(expect.arrayContaining(Object.keys(usageParameters)));
});

it.each([
  ['a=1&b=2', 'b=2&a=1', true],
  ['', '', true],
  ['a=1', 'a=2', false],
])('%j and %j ask for the same: %s', (one, other, same) => {
  expect(sameQuery(one, other)).toBe(same);
});
