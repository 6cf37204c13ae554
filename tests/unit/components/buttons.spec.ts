import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

// WCAG 2.5.3: speech control finds a button by its text, so the accessible name must contain it at all times.
it('a button whose text changes while it works has no fixed accessible name', () => {
  const found = globSync('{app,components}/**/*.tsx').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/<Button\b.*?<\/Button>/gs)]
      .map(([button]) => button)
      .filter((button) => /\baria-label=|'aria-label'/.test(button) && /\bpending \?/.test(button))
      .map(() => file),
  );
  expect(found).toEqual([]);
});
