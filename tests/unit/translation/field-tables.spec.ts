import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { translations } from '#lib/core/translation/index';
import { fieldTableInMarkdown } from '#tests/unit/translation/field-tables';

const page = 'docs/contract/translation.md';

it('the contract says what becomes of each field: run this spec with -u after a change', async () => {
  let made = readFileSync(page, 'utf8');
  for (const protocol of ['chat', 'responses', 'messages', 'generate-content'] as const) {
    const [begin, end] = [`<!-- generated: ${protocol} -->\n`, `<!-- end of ${protocol} -->\n`];
    const [before = '', rest = ''] = made.split(begin);
    const behind = rest.split(end)[1] ?? '';
    const table = fieldTableInMarkdown(protocol, translations[protocol].fields);
    made = `${before}${begin}\n${table}\n${end}${behind}`;
  }
  await expect(made).toMatchFileSnapshot(`../../../${page}`);
});
