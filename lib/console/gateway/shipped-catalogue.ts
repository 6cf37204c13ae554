import { join } from 'node:path';
import { type CatalogueText, readTexts } from '#lib/control/catalogue/files';

/**
 * The catalogue files that come with this version, without the simulated provider's; null: this installation
 * has none.
 */
export async function readShippedCatalogue(): Promise<CatalogueText[] | null> {
  const directory = join(process.cwd(), 'catalogue');
  const texts = await readTexts(directory, ['sandbox.yaml']).catch(() => null);
  return texts === null
    ? null
    : texts.map(({ name, text }) => ({ name: name.slice(directory.length + 1), text }));
}
