import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { type ApplyOptions, applyCatalogue, compareCatalogue } from '#lib/catalogue/apply';
import { type Difference, offerKey } from '#lib/catalogue/difference';
import { type CatalogueSet, readCatalogue } from '#lib/catalogue/files';
import type { Db } from '#lib/data/db';

/** The catalogue files that come with this version, and where an embedded installation remembers them. */
export interface Shipped {
  /** A file or a directory; `skip`: file names to leave out of a directory. */
  readonly path: string;
  readonly skip: readonly string[];
  /** Holds what was taken over, as hashes by entry. */
  readonly recordPath: string;
}

/** What the database and the shipped files differ in, one line an entry. */
export interface Differences {
  /** Written to the database just now. */
  readonly taken: readonly string[];
  /** Not written: `gateway catalogue apply` does it. */
  readonly left: readonly string[];
}

/** Hashes of what was taken over, by entry. */
type Taken = Readonly<Record<string, string>>;

/**
 * Brings new providers, models and offers of the shipped files, and what has changed in them since they were
 * taken over last, into the database (operations.md "Catalogue file"). What the operator has changed stays:
 * providers, withdrawn offers, and entries that the files give as they did then.
 * @throws FileRefused when the files are wrong; Error of the database or the disk.
 */
export async function takeOverCatalogue(
  db: Db,
  shipped: Shipped,
  options: ApplyOptions,
): Promise<Differences> {
  const wanted = await readCatalogue(shipped.path, shipped.skip);
  const now = recordOf(wanted);
  const before = readRecord(shipped.recordPath);
  const changed = (entry: string) => now[entry] !== before[entry];
  if (!Object.keys(now).some(changed) || !(await isInstalled(db, wanted))) {
    return { taken: [], left: await compareCatalogue(db, wanted, options.sealingKey) };
  }
  const select = (difference: Difference): Difference => onlyNews(difference, changed);
  const { changes } = await applyCatalogue(db, wanted, { ...options, select });
  writeFileSync(shipped.recordPath, JSON.stringify({ ...before, ...now }), { mode: 0o600 });
  return { taken: changes, left: await compareCatalogue(db, wanted, options.sealingKey) };
}

/** An operator who runs a catalogue of their own, with few or none of these providers, keeps it. */
async function isInstalled(db: Db, { providers }: CatalogueSet): Promise<boolean> {
  const ids = providers.map((provider) => provider.id);
  return (await db.prisma.provider.count({ where: { id: { in: ids } } })) * 2 >= ids.length;
}

/** What the database lacks of the shipped files, without writing anything. */
export async function missingOfCatalogue(
  db: Db,
  shipped: Pick<Shipped, 'path' | 'skip'>,
  sealingKey: Uint8Array | null,
): Promise<readonly string[]> {
  return compareCatalogue(db, await readCatalogue(shipped.path, shipped.skip), sealingKey);
}

/** The part of a difference that may be written unasked. */
function onlyNews(difference: Difference, changed: (entry: string) => boolean): Difference {
  const models = difference.changedModels.filter((model) => changed(modelEntry(model.id)));
  const offers = difference.offers.filter(
    (offer) =>
      offer.id === null || (!offer.withdrawn && changed(offerEntry(offer.modelId, offer.providerId))),
  );
  const entries = new Set([
    ...difference.newProviders.map((provider) => `provider ${provider.id}`),
    ...[...difference.newModels, ...models].map((model) => modelEntry(model.id)),
    ...offers.map((offer) => offerEntry(offer.modelId, offer.providerId)),
  ]);
  const lines = difference.lines.filter((line) => entries.has(line.entry));
  return { ...difference, changedProviders: [], changedModels: models, offers, lines };
}

function recordOf({ models }: CatalogueSet): Taken {
  const record: Record<string, string> = {};
  for (const { offers, ...facts } of models) {
    record[modelEntry(facts.id)] = hashOf(facts);
    for (const offer of offers) record[offerEntry(facts.id, offer.provider)] = hashOf(offer);
  }
  return record;
}

const modelEntry = (id: string) => `model ${id}`;
const offerEntry = (modelId: string, providerId: string) => `offer ${offerKey(modelId, providerId)}`;

function hashOf(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);
}

/** A record that is missing or cannot be read: nothing was taken over yet. */
function readRecord(path: string): Taken {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof read !== 'object' || read === null) return {};
    return Object.fromEntries(Object.entries(read).filter(([, hash]) => typeof hash === 'string'));
  } catch {
    return {};
  }
}
