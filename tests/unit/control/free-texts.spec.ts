import { expect, it } from 'vitest';
import { operations } from '#lib/control/operations/operations';
import { closedTexts, freeTexts } from '#tests/support/control/free-texts';

it('each stored text is one that people write, which the browser test of markup fills, or a closed one', () => {
  const texts = operations
    .filter(({ kind }) => kind !== 'read')
    .flatMap(({ name, fields }) =>
      Object.entries(fields)
        .filter(
          ([, { kind, secret }]) => ['text', 'document', 'words', 'files'].includes(kind) && secret !== true,
        )
        .map(([field]) => `${name}.${field}`),
    );
  expect(texts.length).toBeGreaterThan(30);
  expect([...texts].sort()).toEqual([...freeTexts, ...closedTexts].sort());
});
