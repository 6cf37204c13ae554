import { Prisma } from '#generated/client';
import {
  compare,
  type Difference,
  type OfferChange,
  type Order,
  type StoredCatalogue,
  type StoredOffer,
} from '#lib/control/catalogue/difference';
import type { CatalogueSet } from '#lib/control/catalogue/files';
import { readStored } from '#lib/control/catalogue/stored';
import { type Trail, trailOf } from '#lib/control/catalogue/trail';
import type { Price } from '#lib/core/metering/price-list';
import type { FileModel, FileProvider } from '#lib/core/schemas/catalogue';
import { type Fault, FileRefused } from '#lib/core/schemas/document';
import { storePrice } from '#lib/core/schemas/price';
import type { Db } from '#lib/platform/data/db';
import { credentialContext, type SealingKey, seal } from '#lib/platform/sealing';

export interface ApplyOptions {
  /** ENCRYPTION_KEY as 32 bytes; needed only when a file gives a credential by value. */
  readonly sealingKey: SealingKey | null;
  /** A new UUIDv7. */
  newId(): string;
  /** Withdraw the offers that the files leave out of their providers; default: they stay as they are. */
  readonly prune?: boolean;
  /** Default: as in the files. */
  readonly order?: Order;
  /** The part of the difference to write; default: all of it. */
  readonly select?: (difference: Difference) => Difference;
}

/** The result of applying files; each line names one provider, model or offer. */
export interface Applied {
  /** Written to the database. */
  readonly changes: readonly string[];
  /** Offers that are not in the files and stay until the files are applied with `prune`. */
  readonly leftOut: readonly string[];
  readonly trail: Trail;
}

/**
 * Makes the database say what the catalogue says: declarative and idempotent. A changed price is a new
 * version, so calls keep the one they were admitted under (contract: money/price-versions).
 * @param tx has locked the table `provider`, because two transactions at once would both see a price as new; its opener
 * publishes the change.
 * @throws FileRefused for faults that only the database shows (an unknown provider, a family that it lacks);
 * SealingKeyMissing if a credential must be sealed and there is no key.
 */
export async function applyWithin(
  tx: Prisma.TransactionClient,
  wanted: CatalogueSet,
  options: ApplyOptions,
): Promise<Applied> {
  const { stored, difference: whole } = await compareWithin(tx, wanted, options.sealingKey, options.order);
  const difference = options.select?.(whole) ?? whole;
  const withdrawn = options.prune ? difference.leftOut : [];
  const nameOf = (offer: StoredOffer) => `offer ${offer.modelId} at ${offer.providerId}`;
  const changes = [
    ...difference.lines.map((line) => line.text),
    ...withdrawn.map((offer) => `- ${nameOf(offer)}: withdrawn`),
  ];
  if (changes.length > 0) await write(tx, difference, withdrawn, options);
  const leftOut = options.prune ? [] : difference.leftOut.map(nameOf);
  return { changes, leftOut, trail: trailOf(difference, stored, withdrawn) };
}

/**
 * What applying would change, and the stored catalogue; nothing is written.
 * @throws FileRefused as applying does.
 */
export async function compareWithin(
  tx: Prisma.TransactionClient,
  wanted: CatalogueSet,
  sealingKey: SealingKey | null,
  order: Order = 'files',
): Promise<{ readonly difference: Difference; readonly stored: StoredCatalogue }> {
  const stored = await readStored(tx, sealingKey);
  refuseUnknown(wanted, new Map([...stored.providers].map(([id, one]) => [id, Object.keys(one.families)])));
  refuseTakenNames(wanted, stored.models);
  return { difference: compare(wanted, stored, order), stored };
}

/** What applying would change, one line each; nothing is written. */
export async function compareCatalogue(
  db: Db,
  wanted: CatalogueSet,
  sealingKey: SealingKey | null,
): Promise<readonly string[]> {
  const stored = await db.prisma.$transaction((tx) => readStored(tx, sealingKey), { timeout: 60_000 });
  return compare(wanted, stored).lines.map((line) => line.text);
}

/** Checks offers at providers that came with other files. */
function refuseUnknown(wanted: CatalogueSet, stored: ReadonlyMap<string, readonly string[]>): void {
  const inFiles = new Set(wanted.providers.map((provider) => provider.id));
  const faults: Fault[] = [];
  for (const model of wanted.models) {
    for (const offer of model.offers.filter((one) => !inFiles.has(one.provider))) {
      const families = stored.get(offer.provider);
      const lacking = offer.families.filter((family) => !families?.includes(family));
      if (families && lacking.length === 0) continue;
      const what = families
        ? `has no address for ${lacking.join(', ')}`
        : 'is neither in the files nor in the database';
      faults.push({
        ...wanted.whereOffer(model.id, offer.provider),
        message: `provider "${offer.provider}" ${what}: add it under providers`,
      });
    }
  }
  if (faults.length > 0) throw new FileRefused(faults);
}

/** A name means one model of the whole catalogue, those of other files included. */
function refuseTakenNames(wanted: CatalogueSet, stored: StoredCatalogue['models']): void {
  const inFiles = new Set(wanted.models.map((model) => model.id));
  const taken = new Map<string, string>();
  for (const model of stored.values()) {
    if (!inFiles.has(model.id)) for (const name of [model.id, ...model.aliases]) taken.set(name, model.id);
  }
  const faults = wanted.models.flatMap((model) =>
    [model.id, ...model.aliases]
      .filter((name) => taken.has(name))
      .map((name) => ({
        ...wanted.whereModel(model.id),
        message: `"${name}" is already a name of ${taken.get(name)} in the database: leave it out, or apply that model too`,
      })),
  );
  if (faults.length > 0) throw new FileRefused(faults);
}

async function write(
  tx: Prisma.TransactionClient,
  difference: Difference,
  withdrawn: readonly StoredOffer[],
  options: ApplyOptions,
): Promise<void> {
  const providerData = (provider: FileProvider) => ({
    name: provider.name,
    families: provider.families,
    ...(provider.credential === undefined
      ? {}
      : { credential: storedCredential(provider.id, provider.credential, options.sealingKey) }),
    credentialHeaders: provider.credentialHeaders,
    auth: provider.auth ?? Prisma.DbNull,
    variants: provider.variants,
    onDisconnect: provider.onDisconnect,
    pricesFrom: provider.pricesFrom ?? null,
    stores: provider.stores,
  });
  await tx.provider.createMany({
    data: difference.newProviders.map((provider) => ({ id: provider.id, ...providerData(provider) })),
  });
  for (const provider of difference.changedProviders) {
    await tx.provider.update({ where: { id: provider.id }, data: providerData(provider) });
  }
  await tx.model.createMany({
    data: difference.newModels.map((model) => ({ id: model.id, ...modelData(model) })),
  });
  for (const model of difference.changedModels) {
    await tx.model.update({ where: { id: model.id }, data: modelData(model) });
  }
  const offers = difference.offers.map((offer) => ({ ...offer, offerId: offer.id ?? options.newId() }));
  await tx.offer.createMany({
    data: offers
      .filter((offer) => offer.id === null)
      .map((offer) => ({
        id: offer.offerId,
        modelId: offer.modelId,
        providerId: offer.providerId,
        ...offerData(offer),
      })),
  });
  for (const offer of offers.filter((one) => one.id !== null)) {
    await tx.offer.update({ where: { id: offer.offerId }, data: { ...offerData(offer), withdrawnAt: null } });
  }
  const priced = offers.filter((offer) => offer.price !== undefined);
  // The database's clock, read now: a transaction that waited for the lock must not date its prices back.
  await tx.$executeRaw`
    INSERT INTO price_version (id, offer_id, price, effective_at, created_at)
    SELECT v.id, v.offer_id, v.price, clock_timestamp(), clock_timestamp()
    FROM unnest(${priced.map(() => options.newId())}::uuid[], ${priced.map((one) => one.offerId)}::uuid[],
      ${priced.map((one) => JSON.stringify(storePrice(one.price ?? unpriced)))}::jsonb[]) AS v (id, offer_id, price)`;
  if (withdrawn.length > 0) {
    await tx.offer.updateMany({
      where: { id: { in: withdrawn.map((offer) => offer.id) } },
      data: { withdrawnAt: new Date() },
    });
  }
}

/** A credential by value is stored sealed. */
export class SealingKeyMissing extends Error {
  constructor(provider: string) {
    super(
      `set ENCRYPTION_KEY: the file contains the credential of provider "${provider}", which is stored encrypted`,
    );
    this.name = 'SealingKeyMissing';
  }
}

/** The price that prices nothing: how an offer becomes unpriced without losing its history. */
const unpriced: Price = { base: {}, tiers: [], serviceTiers: {} };

function modelData(model: FileModel) {
  const { id: _id, offers: _offers, released, retires, ...facts } = model;
  return { ...facts, released: released ?? null, retires: retires ?? null };
}

function offerData({ facts }: OfferChange) {
  const { families, denyBetas, abilities, operations } = facts;
  return {
    ...facts,
    families: [...families],
    denyBetas: [...denyBetas],
    abilities: { ...abilities },
    operations: [...operations],
  };
}

function storedCredential(
  id: string,
  given: NonNullable<FileProvider['credential']>,
  sealingKey: SealingKey | null,
) {
  if (given === 'none') return { none: true };
  if ('env' in given) return given;
  if (!sealingKey) throw new SealingKeyMissing(id);
  return { sealed: seal(given.value, sealingKey, credentialContext(id)) };
}
