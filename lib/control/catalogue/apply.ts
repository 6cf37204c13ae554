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
import { credentialKey, credentialText, type StoredCredential } from '#lib/control/catalogue/pool';
import { readStored } from '#lib/control/catalogue/stored';
import { type Trail, trailOf } from '#lib/control/catalogue/trail';
import { defaultCredential, mostCredentials } from '#lib/core/facts/pool';
import type { Price } from '#lib/core/metering/price-list';
import type { FileCredential, FileModel, FileProvider } from '#lib/core/schemas/catalogue';
import { type Fault, FileRefused } from '#lib/core/schemas/document';
import { storePrice } from '#lib/core/schemas/price';
import type { Db } from '#lib/platform/data/db';
import { credentialContext, type SealingKey, seal } from '#lib/platform/sealing';

export interface ApplyOptions {
  /** ENCRYPTION_KEY as 32 bytes; needed only when a file gives a credential by value. */
  readonly sealingKey: SealingKey | null;
  /** A new UUIDv7. */
  newId(): string;
  /** Withdraw what the files leave out of their providers and pools; default: it stays as it is. */
  readonly prune?: boolean;
  /** Default: as in the files. */
  readonly order?: Order;
  /** The part of the difference to write; default: all of it. */
  readonly select?: (difference: Difference) => Difference;
}

/** The result of applying files; each line names one provider, credential, model or offer. */
export interface Applied {
  /** Written to the database. */
  readonly changes: readonly string[];
  /** Offers and credentials that are not in the files and stay until the files are applied with `prune`. */
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
  const credentials = options.prune ? difference.credentialsLeftOut : [];
  const names = leftOutOf(difference);
  const changes = [
    ...difference.lines.map((line) => line.text),
    ...(options.prune ? names.map((name) => `- ${name}: withdrawn`) : []),
  ];
  if (changes.length > 0) {
    await write(tx, difference, withdrawn, options);
    await writePools(tx, difference, { stored, withdrawn: credentials, sealingKey: options.sealingKey });
  }
  const leftOut = options.prune ? [] : names;
  return { changes, leftOut, trail: trailOf(difference, stored, withdrawn, credentials) };
}

/** What the files leave out of their providers and pools, by name. Pure. */
export function leftOutOf({ leftOut, credentialsLeftOut }: Difference): string[] {
  return [
    ...leftOut.map(({ modelId, providerId }) => `offer ${modelId} at ${providerId}`),
    ...credentialsLeftOut.map(credentialText),
  ];
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
  refusePools(wanted, stored);
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

/** A credential may serve models that exist, and a pool is not larger than `provider set-credential` makes one. */
function refusePools(wanted: CatalogueSet, stored: StoredCatalogue): void {
  const models = new Set([...stored.models.keys(), ...wanted.models.map(({ id }) => id)]);
  const faults: Fault[] = [];
  for (const { id, credentials = [] } of wanted.providers) {
    for (const { name, models: own = [] } of credentials) {
      const unknown = own.filter((model) => !models.has(model));
      if (unknown.length === 0) continue;
      faults.push({
        ...wanted.whereCredential(id, name),
        message: `${credentialText({ providerId: id, name })} may serve ${unknown.slice(0, 10).join(', ')}, which is neither in the files nor in the database: add it under models, or leave it out`,
      });
    }
    const before = [...stored.credentials.values()].filter(({ providerId }) => providerId === id);
    const names = new Set([...before, ...credentials].map(({ name }) => name));
    if (credentials.length > 0 && names.size > mostCredentials)
      faults.push({
        ...wanted.whereCredential(id, credentials[0]?.name ?? ''),
        message: `provider "${id}" would have ${names.size} credentials, with those in the database; it may have at most ${mostCredentials}: remove some first`,
      });
  }
  if (faults.length > 0) throw new FileRefused(faults);
}

interface Pools {
  readonly stored: StoredCatalogue;
  readonly withdrawn: readonly StoredCredential[];
  readonly sealingKey: SealingKey | null;
}

async function writePools(
  tx: Prisma.TransactionClient,
  difference: Difference,
  { stored, withdrawn, sealingKey }: Pools,
): Promise<void> {
  const now = new Date();
  for (const { providerId, name, settings, credential } of difference.credentials) {
    const { models, withdrawn: out, ...numbers } = settings;
    const was = stored.credentials.get(credentialKey(providerId, name))?.settings.withdrawn ?? false;
    const row = {
      ...numbers,
      models: [...(models ?? [])],
      ...(out !== was && { withdrawnAt: out ? now : null }),
      ...(credential && { secret: storedCredential({ providerId, name }, credential, sealingKey) }),
    };
    await tx.credential.upsert({
      where: { providerId_name: { providerId, name } },
      create: { providerId, name, ...row },
      update: row,
    });
  }
  for (const { providerId, name } of withdrawn) {
    await tx.credential.update({
      where: { providerId_name: { providerId, name } },
      data: { withdrawnAt: now },
    });
  }
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
      : { credential: storedCredential(ownOf(provider), provider.credential, options.sealingKey) }),
    credentialHeaders: provider.credentialHeaders,
    auth: provider.auth ?? Prisma.DbNull,
    variants: provider.variants,
    onDisconnect: provider.onDisconnect,
    pricesFrom: provider.pricesFrom ?? null,
    stores: provider.stores,
    ...(provider.acceptNewModels === undefined ? {} : { acceptNewModels: provider.acceptNewModels }),
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

function ownOf({ id: providerId }: FileProvider) {
  return { providerId, name: defaultCredential };
}

/** As the database has it. @throws SealingKeyMissing. */
function storedCredential(
  { providerId, name }: Pick<StoredCredential, 'providerId' | 'name'>,
  given: FileCredential,
  sealingKey: SealingKey | null,
) {
  if (given === 'none') return { none: true };
  if ('env' in given) return given;
  if (!sealingKey) throw new SealingKeyMissing(providerId);
  return { sealed: seal(given.value, sealingKey, credentialContext(providerId, name)) };
}
