import { once } from 'node:events';
import { exportContent } from '#lib/control/operations/content/export';
import type { Command } from '#lib/programs/command/command';
import { commandsOf } from '#lib/programs/command/declared';

/** Prints page after page, so that an export of any length needs the memory of one page (contract: content/export). */
export const content: readonly Command[] = commandsOf([{ ...exportContent, line: {} }]).map((page) => ({
  ...page,
  usage: page.usage.replace(/ ?\[--after [^\]]*\]/, ''),
  help: (page.help ?? []).filter(([option]) => option !== '--after'),
  options: page.options.filter((option) => option !== 'after'),
  run: async (context, input) => {
    let held = '';
    let after: string | null = null;
    for (;;) {
      const options = { ...input.options, ...(after === null ? {} : { after }) };
      const { json, text } = await page.run(context, { ...input, options });
      if (text !== '') {
        if (held !== '' && !process.stdout.write(`${held}\n`)) await once(process.stdout, 'drain');
        held = text;
      }
      after = (json as { readonly next: string | null }).next;
      if (after === null) return { json, text: held };
    }
  },
}));
