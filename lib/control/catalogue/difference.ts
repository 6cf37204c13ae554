import { isDeepStrictEqual } from 'node:util';
import { changedFields } from '#lib/control/catalogue/changed-fields';
import type { CatalogueSet } from '#lib/control/catalogue/files';
import {
  type CredentialChange,
  comparePools,
  decidesCredential,
  type StoredCredential,
} from '#lib/control/catalogue/pool';
import { rateUsd } from '#lib/control/catalogue/price-table';
import type { Abilities } from '#lib/core/facts/abilities';
import { hourlyNano } from '#lib/core/metering/audio-rate';
import type { Price } from '#lib/core/metering/price-list';
import { formatUsd } from '#lib/core/money';
import type { FileModel, FileOffer, FileProvider } from '#lib/core/schemas/catalogue';
import { isUnpriced, readFilePrice } from '#lib/core/schemas/price';

/** The catalogue in the database. */
export interface StoredCatalogue {
  readonly providers: ReadonlyMap<string, StoredProvider>;
  /** Of all pools, by `credentialKey`. */
  readonly credentials: ReadonlyMap<string, StoredCredential>;
  readonly models: ReadonlyMap<string, Omit<FileModel, 'offers'>>;
  /** By `offerKey`. */
  readonly offers: ReadonlyMap<string, StoredOffer>;
}
interface StoredProvider {
  readonly id: string;
  readonly name: string;
  readonly families: FileProvider['families'];
  /** Opened; null: not given, or sealed under another key. */
  readonly credential: FileProvider['credential'] | null;
  /** Whether the credential was given by value. */
  readonly sealed: boolean;
  readonly credentialHeaders: FileProvider['credentialHeaders'];
  readonly auth: FileProvider['auth'] | null;
  readonly variants: FileProvider['variants'];
  readonly onDisconnect: string;
  readonly pricesFrom: string | null;
  readonly stores: readonly string[];
  readonly acceptNewModels: boolean;
}
export interface StoredOffer {
  readonly id: string;
  readonly modelId: string;
  readonly providerId: string;
  readonly facts: OfferColumns;
  readonly withdrawn: boolean;
  /** The price in force; null: unpriced. */
  readonly price: Price | null;
}
/** Columns of an offer that its file decides. */
interface OfferColumns {
  readonly upstreamModel: string;
  readonly families: readonly string[];
  readonly position: number;
  readonly outputBudgetField: string | null;
  readonly streamUsage: string | null;
  readonly streamEnd: string | null;
  readonly denyBetas: readonly string[];
  readonly retires: string | null;
  readonly abilities: Abilities;
  readonly operations: readonly string[];
}

export interface OfferChange {
  readonly modelId: string;
  readonly providerId: string;
  /** null: a new offer. */
  readonly id: string | null;
  readonly facts: OfferColumns;
  /** It is withdrawn in the database. */
  readonly withdrawn: boolean;
  /** undefined: the price stays; null: it becomes unpriced. */
  readonly price: Price | null | undefined;
}

/** What must be written so that the database says what the files say. */
export interface Difference {
  readonly newProviders: readonly FileProvider[];
  readonly changedProviders: readonly FileProvider[];
  readonly credentials: readonly CredentialChange[];
  readonly newModels: readonly FileModel[];
  readonly changedModels: readonly FileModel[];
  readonly offers: readonly OfferChange[];
  /** Offers of the files' providers that the files do not list: withdrawn only when asked for. */
  readonly leftOut: readonly StoredOffer[];
  /** Credentials of pools that the files list without them: withdrawn only when asked for. */
  readonly credentialsLeftOut: readonly StoredCredential[];
  /** One line a change; `leftOut` is not among them. */
  readonly lines: readonly ChangeLine[];
}

/** A change in words for people. */
export interface ChangeLine {
  /** "provider ID", "credential PROVIDER NAME", "model ID", "offer MODEL PROVIDER". */
  readonly entry: string;
  readonly text: string;
}

export function offerKey(modelId: string, providerId: string): string {
  return `${modelId} ${providerId}`;
}

/**
 * Compares files with the database (contract: operations/catalogue-apply, operations/catalogue-credential). An offer is left out when
 * the files list its provider but not the offer; one whose provider they only refer to (in another offer),
 * when they also list its model. Pure.
 */
export function compare(wanted: CatalogueSet, stored: StoredCatalogue, order: Order = 'files'): Difference {
  const lines: ChangeLine[] = [];
  const tell = (entry: string, text: string) => lines.push({ entry, text });
  const newProviders: FileProvider[] = [];
  const changedProviders: FileProvider[] = [];
  for (const provider of wanted.providers) {
    const before = stored.providers.get(provider.id);
    if (!before) {
      newProviders.push(provider);
      tell(`provider ${provider.id}`, `+ provider ${provider.id}`);
      continue;
    }
    const { credential, credentials: _, ...given } = provider;
    const decides = decidesCredential(credential, before);
    const { auth = null, pricesFrom = null, acceptNewModels = before.acceptNewModels } = given;
    const after = { ...given, auth, pricesFrom, acceptNewModels, ...(decides && { credential }) };
    const changed = changedFields({ ...before }, { ...after });
    if (changed.length === 0) continue;
    changedProviders.push(decides ? provider : given);
    tell(`provider ${provider.id}`, `~ provider ${provider.id}: ${changed.join(', ')}`);
  }

  const pools = comparePools(wanted, stored.credentials);
  for (const { entry, text } of pools.lines) tell(entry, text);

  const newModels: FileModel[] = [];
  const changedModels: FileModel[] = [];
  for (const model of wanted.models) {
    const before = stored.models.get(model.id);
    const { offers: _, ...after } = model;
    const changed = before
      ? changedFields({ ...before }, { ...after, released: after.released, retires: after.retires })
      : [];
    if (!before) newModels.push(model);
    else if (changed.length > 0) changedModels.push(model);
    if (!before) tell(`model ${model.id}`, `+ model ${model.id}`);
    else if (changed.length > 0) tell(`model ${model.id}`, `~ model ${model.id}: ${changed.join(', ')}`);
  }

  const kept = new Set<string>();
  const offers: OfferChange[] = [];
  for (const model of wanted.models) {
    for (const [place, offer] of model.offers.entries()) {
      const key = offerKey(model.id, offer.provider);
      const position = order === 'files' ? place : placeIn(stored, model.id, offer.provider);
      kept.add(key);
      const change = offerChange(model.id, offer, position, stored.offers.get(key));
      if (!change) continue;
      offers.push(change.write);
      tell(`offer ${key}`, change.line);
    }
  }
  const leftOut = offersLeftOut(wanted, stored, kept);
  return {
    ...{ newProviders, changedProviders, newModels, changedModels, offers, leftOut, lines },
    credentials: pools.changes,
    credentialsLeftOut: pools.leftOut,
  };
}

/** Whether offers are ordered as in the files, or keep their places in the database, with new ones last. */
export type Order = 'files' | 'stored';

function placeIn({ offers }: StoredCatalogue, modelId: string, providerId: string): number {
  const own = offers.get(offerKey(modelId, providerId));
  if (own) return own.facts.position;
  const others = [...offers.values()].filter((offer) => offer.modelId === modelId);
  return others.reduce((next, { facts }) => Math.max(next, facts.position + 1), 0);
}

function offersLeftOut(
  wanted: CatalogueSet,
  stored: StoredCatalogue,
  kept: ReadonlySet<string>,
): readonly StoredOffer[] {
  const models = new Set(wanted.models.map((model) => model.id));
  const listed = new Set(wanted.providers.map((provider) => provider.id));
  const named = new Set(wanted.models.flatMap((model) => model.offers.map((offer) => offer.provider)));
  return [...stored.offers.values()].filter(
    (offer) =>
      !offer.withdrawn &&
      !kept.has(offerKey(offer.modelId, offer.providerId)) &&
      (listed.has(offer.providerId) || (models.has(offer.modelId) && named.has(offer.providerId))),
  );
}

function offerChange(
  modelId: string,
  offer: FileOffer,
  position: number,
  before: StoredOffer | undefined,
): { write: OfferChange; line: string } | null {
  const read = offer.price ? readFilePrice(offer.price) : null;
  const price = read && !isUnpriced(read) ? read : null;
  const facts: OfferColumns = {
    upstreamModel: offer.upstreamModel,
    families: offer.families,
    position,
    outputBudgetField: offer.outputBudgetField ?? null,
    streamUsage: offer.streamUsage ?? null,
    streamEnd: offer.streamEnd ?? null,
    denyBetas: offer.denyBetas,
    retires: offer.retires ?? null,
    abilities: offer.abilities,
    operations: offer.operations,
  };
  const name = `offer ${modelId} at ${offer.provider}`;
  const withdrawn = before?.withdrawn ?? false;
  const write = { modelId, providerId: offer.provider, id: before?.id ?? null, facts, withdrawn };
  if (!before)
    return { write: { ...write, price: price ?? undefined }, line: `+ ${name}: ${priceText(price)}` };
  const samePrice = isDeepStrictEqual(before.price, price);
  const parts = changedFields({ ...before.facts }, { ...facts });
  if (before.withdrawn) parts.unshift('offered again');
  if (!samePrice) parts.push(`price ${priceText(before.price)} → ${priceText(price)}`);
  if (parts.length === 0) return null;
  return {
    write: { ...write, price: samePrice ? undefined : price },
    line: `~ ${name}: ${parts.join(', ')}`,
  };
}

/** Price classes as `priceText` names them, per million tokens; the others are priced by the piece. */
const perMillion: Readonly<Record<string, string>> = {
  cachedInput: 'cached input',
  cacheWrite5m: 'cache write of 5 minutes',
  cacheWrite1h: 'cache write of 1 hour',
  reasoning: 'reasoning',
  audioInput: 'audio in',
  audioOutput: 'audio out',
  imageInput: 'image in',
  imageOutput: 'image out',
  cachedAudioInput: 'cached audio in',
  cachedImageInput: 'cached image in',
  characters: 'by characters',
};
const perPiece: Readonly<Record<string, string>> = {
  image: 'an image',
  videoSecond: 'a second of video',
  webSearch: 'a web search',
  cacheStorage: 'per million cached tokens an hour',
  request: 'a request',
};

/** "$0.5 cached input", "$0.01 a web search", "image by 1024x1024/1536x1024". @param rate nano-dollars per million. */
function rateText(name: string, rate: bigint | object): string {
  if (typeof rate !== 'bigint') return `${perMillion[name] ?? name} by ${Object.keys(rate).join('/')}`;
  return `$${rateUsd(name, rate)} ${perPiece[name] ?? perMillion[name] ?? name}`;
}

/** "$2 in, $8 out, $0.5 cached input" in dollars per million, and "$0.01 a web search" for what is priced by the piece. */
export function priceText(price: Price | null): string {
  if (price === null) return 'unpriced';
  const { input, output, audioMs, ...rest } = price.base;
  const parts = [
    input === undefined ? '' : `$${formatUsd(input)} in`,
    output === undefined ? '' : `$${formatUsd(output)} out`,
    audioMs === undefined ? '' : `$${formatUsd(hourlyNano(audioMs))} an hour of audio`,
    ...Object.entries(rest).map(([name, rate]) => rateText(name, rate)),
    price.tiers.length > 0 ? `${price.tiers.length} ${price.tiers.length === 1 ? 'tier' : 'tiers'}` : '',
    ...Object.keys(price.serviceTiers).map((tier) => `${tier} tier`),
  ];
  return parts.filter(Boolean).join(', ');
}
