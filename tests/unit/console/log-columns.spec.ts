import { describe, expect, it } from 'vitest';
import { callColumns, readColumns, writeColumns } from '#lib/console/log/columns';

describe('the columns of the log that a browser remembers', () => {
  it.each([
    ['nothing', undefined, null],
    ['an empty cookie', '', null],
    ['a cookie of somebody else', '<script>.1', null],
    ['the choice of no column at all', 'none', []],
    ['columns, in the order of the table', 'cost.status', ['status', 'cost']],
    ['each column once, and none that there is not', 'cost.cost.bogus', ['cost']],
  ])('reads %s', (_name, cookie, columns) => {
    expect(readColumns(cookie)).toEqual(columns);
  });

  it.each([[[]], [['cost']], [[...callColumns]]])('reads %j as it was written', (chosen) => {
    expect(readColumns(writeColumns(chosen) ?? undefined)).toEqual(chosen);
  });

  it.each([[null], ['cost'], [{ length: 1e9 }]])('forgets the choice for %j', (sent) => {
    expect(writeColumns(sent)).toBeNull();
  });

  it('writes nothing that a page sent but columns', () => {
    expect(writeColumns(['cost; path=/', 7, 'tokens'])).toBe('tokens');
  });
});
