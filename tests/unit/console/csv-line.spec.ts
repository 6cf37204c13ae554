import { describe, expect, it } from 'vitest';
import { csvLine } from '#lib/console/csv/line';

describe('a line of CSV', () => {
  it.each([
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "yes"', '"say ""yes"""'],
    ['two\nlines', '"two\nlines"'],
    [null, ''],
    [-1.5, '-1.5'],
    ['-0.000001', '-0.000001'],
    ['=1+1', "'=1+1"],
    ['+cmd|x', "'+cmd|x"],
    ['-cmd', "'-cmd"],
    ['@sum', "'@sum"],
    [' \t=1+1', "' \t=1+1"],
    ['=a,"b"', '"\'=a,""b"""'],
  ])('writes %j as %j, and nothing that a spreadsheet would run', (cell, text) => {
    expect(csvLine([cell, 1])).toBe(`${text},1\r\n`);
  });
});
