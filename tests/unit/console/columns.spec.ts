import { describe, expect, it } from 'vitest';
import {
  columnSets,
  columnsOf,
  isTableName,
  readColumns,
  shownColumns,
  writeColumns,
} from '#lib/console/columns';

describe('the columns of a table that a browser remembers', () => {
  it.each([
    ['nothing', undefined, null],
    ['an empty cookie', '', null],
    ['a cookie of somebody else', '<script>.1', null],
    ['the choice of no column at all', 'none', []],
    ['columns, in the order of the table', 'cost.status', ['status', 'cost']],
    ['each column once, and none that there is not', 'cost.cost.bogus', ['cost']],
  ])('reads %s', (_name, cookie, columns) => {
    expect(readColumns('log', cookie)).toEqual(columns);
  });

  it.each([[[]], [['cost']], [[...columnsOf('log')]]])('reads %j as it was written', (chosen) => {
    expect(readColumns('log', writeColumns('log', chosen) ?? undefined)).toEqual(chosen);
  });

  it.each([[null], ['cost'], [{ length: 1e9 }]])('forgets the choice for %j', (sent) => {
    expect(writeColumns('log', sent)).toBeNull();
  });

  it('writes nothing that a page sent but columns', () => {
    expect(writeColumns('log', ['cost; path=/', 7, 'tokens'])).toBe('tokens');
  });
});

it.each(Object.keys(columnSets))(
  'the table %s shows some of its columns by default, in its order',
  (table) => {
    if (!isTableName(table)) throw new Error(table);
    const shown: readonly string[] = shownColumns(table, null);
    expect(shown.length).toBeGreaterThan(0);
    expect(columnsOf(table).filter((column) => shown.includes(column))).toEqual(shown);
  },
);

it.each([null, 'toString', 'log ', 7])('%j names no table', (text) => {
  expect(isTableName(text)).toBe(false);
});
