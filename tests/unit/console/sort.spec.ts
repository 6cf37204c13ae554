import { describe, expect, it } from 'vitest';
import { readSort, sortRows } from '#lib/console/sort';

describe('the order of a list in an address', () => {
  it.each([
    ['cost', { by: 'cost', descending: false }],
    ['-cost', { by: 'cost', descending: true }],
    ['', null],
    [null, null],
    ['--cost', null],
    ['a b', null],
    ['x'.repeat(41), null],
  ])('%j reads as %j', (text, sort) => {
    expect(readSort(text)).toEqual(sort);
  });

  const rows = [
    { id: 1, name: 'key 10', cost: 5n },
    { id: 2, name: 'Key 9', cost: null },
    { id: 3, name: 'alpha', cost: 12n },
    { id: 4, name: 'beta', cost: 5n },
  ];
  const values = {
    name: (row: (typeof rows)[number]) => row.name,
    cost: (row: (typeof rows)[number]) => row.cost,
  };
  const order = (text: string) => sortRows(rows, readSort(text), values).map(({ id }) => id);

  it('sorts numbers by size, and rows without one last in both directions', () => {
    expect(order('cost')).toEqual([1, 4, 3, 2]);
    expect(order('-cost')).toEqual([3, 1, 4, 2]);
  });

  it('sorts names as people do', () => {
    expect(order('name')).toEqual([3, 4, 2, 1]);
  });

  it.each(['', 'color', 'toString'])('leaves the list as it is for %j', (text) => {
    expect(order(text)).toEqual([1, 2, 3, 4]);
  });
});
