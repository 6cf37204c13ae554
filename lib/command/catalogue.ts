import { applyCatalogue } from '#lib/catalogue/apply';
import { readCatalogue } from '#lib/catalogue/files';
import { listModels } from '#lib/catalogue/list';
import { type Command, CommandRefused } from '#lib/command/command';
import { tableLines } from '#lib/command/text';
import { loadCatalogue } from '#lib/snapshot/catalogue';

export const catalogue: readonly Command[] = [
  {
    name: 'catalogue apply',
    usage: 'FILE [--prune]   (a catalogue file, or a directory of them taken as one)',
    positionals: ['FILE'],
    options: [],
    flags: ['prune'],
    required: [],
    run: async (context, input) => {
      const wanted = await readFiles(input.positionals[0] ?? '');
      const { sealingKey } = context.catalogueSources();
      const prune = input.options.prune === 'on';
      const options = { sealingKey, newId: context.newId, prune };
      const { changes, leftOut } = await applyCatalogue(await context.db(), wanted, options);
      if (changes.length > 0) await context.announce();
      const lines = changes.length > 0 ? [...changes] : ['no change'];
      if (leftOut.length > 0) {
        lines.push('Still offered, though the file leaves them out (withdraw them with --prune):');
        lines.push(...leftOut.map((line) => `  ${line}`));
      }
      return { json: { changes, leftOut }, text: lines.join('\n') };
    },
  },
  {
    name: 'catalogue list',
    usage: '',
    positionals: [],
    options: [],
    required: [],
    run: async (context) => {
      const db = await context.db();
      const models = listModels(await loadCatalogue(db.pool, context.catalogueSources()));
      const rows = models.flatMap((model) =>
        model.offers.map((offer) => [
          model.id,
          offer.provider,
          offer.families.join(' '),
          offer.price?.text ?? 'unpriced',
          offer.available ? 'available' : `unavailable: ${offer.why}`,
        ]),
      );
      const titles = ['MODEL', 'PROVIDER', 'FAMILIES', 'USD PER MILLION', 'STATE'];
      const none = 'the catalogue is empty: apply one with "gateway catalogue apply catalogue"';
      return { json: { models }, text: tableLines(titles, rows, none) };
    },
  },
];

/** The simulated provider is no part of a directory's catalogue: it is seeded where it runs. */
async function readFiles(path: string) {
  try {
    return await readCatalogue(path, ['sandbox.yaml']);
  } catch (error) {
    if (error instanceof Error && error.constructor === Error) throw new CommandRefused(error.message);
    throw error;
  }
}
