import { z } from 'zod';
import { type ApplyOptions, applyWithin, SealingKeyMissing } from '#lib/control/catalogue/apply';
import { type CatalogueText, checkCatalogue } from '#lib/control/catalogue/files';
import { onlyNews } from '#lib/control/catalogue/news';
import { type Context, change, type Done } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { files, toggle, wordList } from '#lib/control/operations/field/kinds';
import { badInput } from '#lib/control/operations/refusal';
import { commonKey } from '#lib/control/operations/secret/common-key';
import { FileRefused } from '#lib/core/schemas/document';
import { newRowId } from '#lib/platform/data/row-id';

const applied = z.object({
  changes: z
    .array(z.string())
    .describe('One line for each provider, credential, model or offer that changed.'),
  leftOut: z
    .array(z.string())
    .describe(
      'Offers and credentials that the files omit, although they list the provider or its pool; still in use.',
    ),
});

const example = [{ name: 'catalogue.yaml', text: 'providers: []\nmodels: []\n' }];
export const catalogueFiles = files({
  label: 'Catalogue',
  help: 'A catalogue file, or a directory whose files are taken as one.',
  // The simulated provider is not part of a directory's catalogue: it is seeded where it runs.
  leaveOut: ['sandbox.yaml'],
  example,
});

/** A new catalogue takes thousands of statements; two runs at once would both see a price as new. */
const transaction = { waitMs: 30_000, limitMs: 60_000, table: 'provider' } as const;

export const applyCatalogue = change({
  name: 'catalogue.apply',
  summary: 'Applies catalogue files, all or nothing; a changed price becomes a new version.',
  reach: 'gateway',
  permission: 'gateway:write',
  transaction,
  fields: {
    files: catalogueFiles,
    prune: optional(
      toggle({
        label: 'Prune',
        help: 'Withdraws offers and credentials that the files omit, although they list the provider or its pool.',
        example: true,
      }),
    ),
  },
  output: applied,
  line: { arguments: ['files'] },
  text: ({ changes, leftOut }) =>
    [
      ...(changes.length > 0 ? changes : ['no change']),
      ...(leftOut.length > 0
        ? ['Still in use, though the files omit them (withdraw them with --prune):']
        : []),
      ...leftOut.map((line) => `  ${line}`),
    ].join('\n'),
  run: (context, { files: texts, prune = false }) => write(context, texts, { prune }),
});

/** What a start on the embedded database does by itself (contract: operations/catalogue-start). */
export const takeOverNews = change({
  name: 'catalogue.take-over',
  summary: 'Takes over new models and offers from the files, and the entries that are listed as changed.',
  reach: 'gateway',
  permission: 'gateway:write',
  transaction,
  fields: {
    files: catalogueFiles,
    changed: wordList({
      label: 'Changed',
      help: 'Entries that differ from what was last taken over.',
      example: ['model acme/large'],
    }),
  },
  output: applied,
  run: (context, { files: texts, changed }) => {
    const entries = new Set(changed);
    return write(context, texts, { select: (difference) => onlyNews(difference, (one) => entries.has(one)) });
  },
});

async function write(
  { store, sealingKey }: Context<'gateway'>,
  texts: readonly CatalogueText[],
  how: Pick<ApplyOptions, 'prune' | 'select'>,
): Promise<Done<z.output<typeof applied>>> {
  try {
    const common = sealingKey && (await commonKey(store, sealingKey));
    const options = { sealingKey: common, newId: newRowId, ...how };
    const { changes, leftOut, trail } = await applyWithin(store.prisma, checkCatalogue(texts), options);
    return {
      result: { changes: [...changes], leftOut: [...leftOut] },
      subject: 'catalogue',
      ...trail,
      changes: changes.length > 0 ? [{ kind: 'catalogue', subject: '' }] : [],
    };
  } catch (error) {
    const refused = error instanceof FileRefused || error instanceof SealingKeyMissing;
    throw refused ? badInput('files', error.message) : error;
  }
}
