import type { Prisma } from '#generated/client';
import { offerKey, type StoredCatalogue, type StoredOffer } from '#lib/control/catalogue/difference';
import { credentialKey, plainSettings, type StoredCredential } from '#lib/control/catalogue/pool';
import { defaultCredential } from '#lib/core/facts/pool';
import {
  type FileCredential,
  type FileModel,
  storedAbilitiesShape,
  storedAuthShape,
  storedCredentialHeadersShape,
  storedCredentialShape,
  storedFamiliesShape,
  storedVariantsShape,
} from '#lib/core/schemas/catalogue';
import { isUnpriced, parsePrice } from '#lib/core/schemas/price';
import { credentialContext, open, type SealingKey } from '#lib/platform/sealing';

/** Reads the whole catalogue for a comparison; `sealingKey` null leaves sealed credentials unread. */
export async function readStored(
  tx: Prisma.TransactionClient,
  sealingKey: SealingKey | null,
): Promise<StoredCatalogue> {
  const providers = await tx.provider.findMany({ include: { credentials: { orderBy: { name: 'asc' } } } });
  const models = await tx.model.findMany();
  // By the clock that dates prices; a millisecond on, because a moment is stored rounded.
  const [clock] = await tx.$queryRaw<{ at: Date }[]>`
    SELECT clock_timestamp() + interval '1 millisecond' AS at`;
  const inForce = {
    where: { effectiveAt: { lte: clock?.at ?? new Date() } },
    orderBy: [{ effectiveAt: 'desc' as const }, { createdAt: 'desc' as const }, { id: 'desc' as const }],
    take: 1,
  };
  const offers = await tx.offer.findMany({ include: { prices: inForce } });
  return {
    providers: new Map(
      providers.map((provider) => [
        provider.id,
        {
          id: provider.id,
          name: provider.name,
          families: storedFamiliesShape.parse(provider.families),
          credential: openCredential(credentialContext(provider.id), provider.credential, sealingKey),
          sealed: isSealed(provider.credential),
          credentialHeaders: storedCredentialHeadersShape.parse(provider.credentialHeaders),
          auth: storedAuthShape.nullable().parse(provider.auth),
          variants: storedVariantsShape.parse(provider.variants),
          onDisconnect: provider.onDisconnect,
          pricesFrom: provider.pricesFrom,
          stores: provider.stores,
          acceptNewModels: provider.acceptNewModels,
        },
      ]),
    ),
    credentials: new Map(
      providers
        .flatMap((provider) => poolOf(provider, sealingKey))
        .map((one) => [credentialKey(one.providerId, one.name), one]),
    ),
    models: new Map(models.map((model) => [model.id, modelFacts(model)])),
    offers: new Map(
      offers.map((offer): [string, StoredOffer] => [
        offerKey(offer.modelId, offer.providerId),
        {
          id: offer.id,
          modelId: offer.modelId,
          providerId: offer.providerId,
          facts: {
            upstreamModel: offer.upstreamModel,
            families: offer.families,
            position: offer.position,
            outputBudgetField: offer.outputBudgetField,
            streamUsage: offer.streamUsage,
            streamEnd: offer.streamEnd,
            denyBetas: offer.denyBetas,
            retires: offer.retires,
            abilities: storedAbilitiesShape.parse(offer.abilities),
            operations: offer.operations,
          },
          withdrawn: offer.withdrawnAt !== null,
          price: priceOf(offer.prices[0]?.price),
        },
      ]),
    ),
  };
}

interface CredentialRow {
  readonly name: string;
  readonly secret: unknown;
  readonly weight: number;
  readonly priority: number;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly models: string[];
  readonly withdrawnAt: Date | null;
}

/** The credentials of a provider; the secret of the default one is the provider's, which may have no row of settings. */
function poolOf(
  {
    id: providerId,
    credential,
    credentials,
  }: { id: string; credential: unknown; credentials: CredentialRow[] },
  sealingKey: SealingKey | null,
): StoredCredential[] {
  const pool = credentials.map(({ name, secret, weight, priority, rpm, tpm, models, withdrawnAt }) => ({
    providerId,
    name,
    credential: openCredential(credentialContext(providerId, name), secret, sealingKey),
    sealed: isSealed(secret),
    settings: {
      ...{ weight, priority, rpm, tpm },
      models: models.length > 0 ? models : null,
      withdrawn: withdrawnAt !== null,
    },
  }));
  if (credential === null || pool.some(({ name }) => name === defaultCredential)) return pool;
  const plain = { providerId, name: defaultCredential, credential: null, sealed: false };
  return [...pool, { ...plain, settings: plainSettings }];
}

function priceOf(json: unknown) {
  if (json === undefined) return null;
  const price = parsePrice(json);
  return isUnpriced(price) ? null : price;
}

/** A sealed value that cannot be decrypted counts as absent, so that applying the file seals it again. */
function openCredential(
  context: string,
  json: unknown,
  sealingKey: SealingKey | null,
): FileCredential | null {
  if (json === null) return null;
  const stored = storedCredentialShape.parse(json);
  if ('env' in stored) return stored;
  if ('none' in stored) return 'none';
  if (sealingKey === null) return null;
  try {
    return { value: open(stored.sealed, sealingKey, context) };
  } catch {
    return null;
  }
}

function isSealed(json: unknown): boolean {
  const stored = storedCredentialShape.safeParse(json).data;
  return stored !== undefined && 'sealed' in stored;
}

type ModelRow = {
  id: string;
  name: string;
  aliases: string[];
  contextTokens: number;
  maxOutputTokens: number;
  input: string[];
  output: string[];
  reasoning: boolean;
  released: string | null;
  retires: string | null;
  abilities: unknown;
};

/** Columns of a model as its file says them; modalities were checked by the schema when written. */
function modelFacts(row: ModelRow): Omit<FileModel, 'offers'> {
  return {
    id: row.id,
    name: row.name,
    aliases: row.aliases,
    contextTokens: row.contextTokens,
    maxOutputTokens: row.maxOutputTokens,
    input: row.input as FileModel['input'],
    output: row.output as FileModel['output'],
    reasoning: row.reasoning,
    ...(row.released === null ? {} : { released: row.released }),
    ...(row.retires === null ? {} : { retires: row.retires }),
    abilities: storedAbilitiesShape.parse(row.abilities),
  };
}
