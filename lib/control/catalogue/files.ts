import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CatalogueFile,
  catalogueShape,
  type FileModel,
  type FileProvider,
} from '#lib/core/schemas/catalogue';
import { type Checked, type Fault, FileRefused, readDocument } from '#lib/core/schemas/document';

interface Place {
  readonly file: string;
  readonly line: number;
}

/** One or more catalogue files, checked on their own and against each other. */
export interface CatalogueSet {
  readonly providers: readonly FileProvider[];
  readonly models: readonly FileModel[];
  /** Where an offer is in the files, for faults that only the database shows. */
  whereOffer(modelId: string, providerId: string): Place;
  /** Where a model is in the files. */
  whereModel(modelId: string): Place;
  /** Where a credential of a provider's pool is in the files. */
  whereCredential(providerId: string, name: string): Place;
}

/** A catalogue file as it was read: its name, for messages, and its contents. */
export interface CatalogueText {
  readonly name: string;
  readonly text: string;
}

/**
 * Reads a catalogue file, or every .yaml, .yml and .json of a directory as one catalogue.
 * @param skip file names to leave out of a directory.
 * @throws FileRefused that names the lines; Error if there is no file.
 */
export async function readCatalogue(path: string, skip: readonly string[] = []): Promise<CatalogueSet> {
  return checkCatalogue(await readTexts(path, skip));
}

/** The same without checking the contents. @throws Error if there is no file. */
export async function readTexts(path: string, skip: readonly string[] = []): Promise<CatalogueText[]> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    const gone = error.code === 'ENOENT' || error.code === 'ENOTDIR';
    throw new Error(
      gone
        ? `${path} does not exist: name a catalogue file or a directory of catalogue files`
        : `${path} cannot be read by this user (${error.code}): move it to a folder that this user can read`,
    );
  });
  const files = found.isDirectory()
    ? (await readdir(path))
        .filter((name) => /\.(ya?ml|json)$/.test(name) && !skip.includes(name))
        .sort()
        .map((name) => join(path, name))
    : [path];
  if (files.length === 0)
    throw new Error(`${path} contains no catalogue file: their names end in .yaml, .yml or .json`);
  return Promise.all(files.map(async (name) => ({ name, text: await readFile(name, 'utf8') })));
}

/** Checks texts as one catalogue. @throws FileRefused that names the lines. */
export function checkCatalogue(texts: readonly CatalogueText[]): CatalogueSet {
  const checked: Checked<CatalogueFile>[] = [];
  const faults: Fault[] = [];
  for (const { name, text } of texts) {
    try {
      checked.push(readDocument(name, text, catalogueShape));
    } catch (error) {
      if (!(error instanceof FileRefused)) throw error;
      faults.push(...error.faults);
    }
  }
  if (faults.length > 0) throw new FileRefused(faults);
  return joinCatalogues(checked);
}

/**
 * Joins checked files into one catalogue: each id is in one of them, and its provider has the families of each offer.
 * @throws FileRefused that names the lines.
 */
export function joinCatalogues(files: readonly Checked<CatalogueFile>[]): CatalogueSet {
  const faults: Fault[] = [];
  const seen = new Map<string, string>();
  const places = new Map<string, Place>();
  const providers = new Map<string, FileProvider>();
  const claim = (what: string, id: string, file: string, line: number): boolean => {
    const first = seen.get(`${what} ${id}`);
    if (first)
      faults.push({
        file,
        line,
        message: `${what} "${id}" is already defined at ${first}: keep one of them`,
      });
    else seen.set(`${what} ${id}`, `${file}:${line}`);
    return !first;
  };

  for (const { file, value, lineOf } of files) {
    for (const [at, provider] of value.providers.entries()) {
      if (claim('provider', provider.id, file, lineOf(['providers', at])))
        providers.set(provider.id, provider);
      for (const [nth, { name }] of (provider.credentials ?? []).entries())
        places.set(`${provider.id} credential ${name}`, {
          file,
          line: lineOf(['providers', at, 'credentials', nth]),
        });
    }
  }
  for (const { file, value, lineOf } of files) {
    for (const [at, model] of value.models.entries()) {
      claim('model', model.id, file, lineOf(['models', at]));
      places.set(model.id, { file, line: lineOf(['models', at]) });
      for (const [nth, alias] of model.aliases.entries())
        claim('model', alias, file, lineOf(['models', at, 'aliases', nth]));
      for (const [nth, offer] of model.offers.entries()) {
        const line = lineOf(['models', at, 'offers', nth]);
        claim(`offer of ${model.id} at`, offer.provider, file, line);
        places.set(`${model.id} ${offer.provider}`, { file, line });
        const provider = providers.get(offer.provider);
        for (const family of provider ? offer.families.filter((one) => !(one in provider.families)) : []) {
          faults.push({
            file,
            line,
            message: `provider "${offer.provider}" has no address for the family ${family}: add it there or leave it out here`,
          });
        }
      }
    }
  }
  if (faults.length > 0) throw new FileRefused(faults);
  const start = { file: files[0]?.file ?? '', line: 1 };
  return {
    providers: [...providers.values()],
    models: files.flatMap((one) => one.value.models),
    whereOffer: (modelId, providerId) => places.get(`${modelId} ${providerId}`) ?? start,
    whereModel: (modelId) => places.get(modelId) ?? start,
    whereCredential: (providerId, name) => places.get(`${providerId} credential ${name}`) ?? start,
  };
}
