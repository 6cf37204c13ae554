import { expect, it } from 'vitest';
import { warnOfFewFiles } from '#lib/programs/process/open-files';

const limits = (soft: string) =>
  `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${soft}   524288     files\n`;

it.each([
  ['1024', [1024]],
  ['4095', [4095]],
  ['4096', []],
  ['unlimited', []],
])('a limit of %s open files (contract: operations/open-files)', (soft, warned) => {
  const lines: unknown[] = [];
  warnOfFewFiles({ warn: (fields: { openFiles: number }) => lines.push(fields.openFiles) }, limits(soft));
  expect(lines).toEqual(warned);
});

it('nothing is logged if the system reports no limit', () => {
  warnOfFewFiles({ warn: () => expect.unreachable() }, '');
});
