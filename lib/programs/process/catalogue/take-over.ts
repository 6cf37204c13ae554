import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { compareCatalogue } from '#lib/control/catalogue/apply';
import { type CatalogueSet, checkCatalogue, readCatalogue, readTexts } from '#lib/control/catalogue/files';
import { modelEntry, offerEntry } from '#lib/control/catalogue/news';
import { applyCatalogue, takeOverNews } from '#lib/control/operations/catalogue/apply';
import { ask, type ControlHost } from '#lib/control/operations/run';
import type { Db } from '#lib/platform/data/db';
import type { SealingKey } from '#lib/platform/sealing';

/** Catalogue files that come with this version. */
export interface ShippedFiles {
  /** The simulated provider, or all the others. */
  readonly of: 'vendors' | 'sandbox';
  /** A file or a directory; `skip`: file names to leave out of a directory. */
  readonly path: string;
  readonly skip: readonly string[];
}

/** The same, with the file in which an embedded installation remembers them. */
export interface Shipped extends Omit<ShippedFiles, 'of'> {
  /** The file with hashes of what was taken over, by entry. */
  readonly recordPath: string;
}

/** Differences between the database and the shipped files, one line per entry. */
export interface Differences {
  /** Written to the database by this call. */
  readonly taken: readonly string[];
  /** Not written; `gateway catalogue apply` writes them. */
  readonly left: readonly string[];
}

const theStart = { kind: 'operator', name: 'start of the gateway', address: null } as const;

/** Hashes of what was taken over, by entry. */
type Taken = Readonly<Record<string, string>>;

/**
 * Applies the shipped files to a database that has none of their providers
 * (contract: operations/catalogue-start). Processes that start at the same time apply them one after another:
 * the second one changes nothing.
 * @returns whether the database had none of them.
 * @throws FileRefused if the files are invalid; Error of the database or the disk.
 */
export async function fillCatalogue(host: ControlHost, { of, path, skip }: ShippedFiles): Promise<boolean> {
  const where = { id: of === 'sandbox' ? of : { not: 'sandbox' } };
  if ((await host.db.prisma.provider.count({ where })) > 0) return false;
  await ask(host, applyCatalogue, { actor: theStart, input: { files: await readTexts(path, skip) } });
  return true;
}

/**
 * Applies new providers, models and offers of the shipped files to the database, and what has changed in the
 * files since they were last taken over (contract: operations/catalogue-start). The operator's changes stay:
 * providers, withdrawn offers, and entries that are still the same in the files.
 * @throws FileRefused if the files are invalid; Error of the database or the disk.
 */
export async function takeOverCatalogue(host: ControlHost, shipped: Shipped): Promise<Differences> {
  const { db, sealingKey = null } = host;
  const texts = await readTexts(shipped.path, shipped.skip);
  const wanted = checkCatalogue(texts);
  const now = recordOf(wanted);
  const before = readRecord(shipped.recordPath);
  const changed = (entry: string) => now[entry] !== before[entry];
  if (!Object.keys(now).some(changed) || !(await isInstalled(db, wanted))) {
    return { taken: [], left: await compareCatalogue(db, wanted, sealingKey) };
  }
  const input = { files: texts, changed: Object.keys(now).filter(changed) };
  const { changes } = await ask(host, takeOverNews, { actor: theStart, input });
  writeFileSync(shipped.recordPath, JSON.stringify({ ...before, ...now }), { mode: 0o600 });
  return { taken: changes, left: await compareCatalogue(db, wanted, sealingKey) };
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
  sealingKey: SealingKey | null,
): Promise<readonly string[]> {
  return compareCatalogue(db, await readCatalogue(shipped.path, shipped.skip), sealingKey);
}

function recordOf({ models }: CatalogueSet): Taken {
  const record: Record<string, string> = {};
  for (const { offers, ...facts } of models) {
    record[modelEntry(facts.id)] = hashOf(facts);
    for (const offer of offers) record[offerEntry(facts.id, offer.provider)] = hashOf(offer);
  }
  return record;
}

function hashOf(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);
}

/** If a record is missing or cannot be read, nothing was taken over yet. */
function readRecord(path: string): Taken {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof read !== 'object' || read === null) return {};
    return Object.fromEntries(Object.entries(read).filter(([, hash]) => typeof hash === 'string'));
  } catch {
    return {};
  }
}
