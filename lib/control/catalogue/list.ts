import { priceText } from '#lib/control/catalogue/difference';
import { listPrice, type PriceBand } from '#lib/control/catalogue/price-table';
import type { Ability } from '#lib/core/facts/abilities';
import { defaultCredential } from '#lib/core/facts/pool';
import { isRetired, retirementDay } from '#lib/core/facts/retired';
import type { Catalogue, ModelFacts, OfferFacts, PriceVersion } from '#lib/core/facts/snapshot';
import { formatUsd } from '#lib/core/money';
import { poolOf } from '#lib/gateway/routing/pure/pool';

/** A model of the catalogue with its offers, for "catalogue list" and the console; money in dollars. */
export interface ListedModel {
  id: string;
  name: string;
  /** The part of the id before the slash; without a slash, the first provider. */
  vendor: string;
  aliases: string[];
  contextTokens: number;
  maxOutputTokens: number;
  input: string[];
  output: string[];
  /** Its output may contain thinking that the client does not see. */
  reasoning: boolean;
  /** "2026-07-02" or "2026-07"; null: unknown. */
  released: string | null;
  /** The last day on which any of its providers serves it; null: none is known. */
  retires: string | null;
  /** Those in service. */
  offers: ListedOffer[];
  /** Those whose day has passed (contract: routing/retired). */
  retired: RetiredOffer[];
}
export interface RetiredOffer {
  provider: string;
  /** Of the provider, for people. */
  providerName: string;
  /** "2026-10-23". */
  day: string;
}
export interface ListedOffer {
  provider: string;
  /** Of the provider, for people. */
  providerName: string;
  upstreamModel: string;
  families: string[];
  /** What it can do, and cannot; what is left out is not known (contract: routing/abilities). */
  abilities: Partial<Record<Ability, boolean>>;
  /** Operations of its protocols that it does not serve. */
  unserved: string[];
  /** Per million tokens; null: no price of that class. */
  price: ListedPrice | null;
  available: boolean;
  /** Why it is not available, and what to do; null when it is. */
  why: string | null;
}
export interface ListedPrice {
  input: string | null;
  output: string | null;
  text: string;
  /** Since when calls are charged so, ISO 8601. */
  effectiveAt: string;
  /** The page where the provider publishes it; null: the catalogue names none. */
  source: string | null;
  bands: PriceBand[];
}

/** The models of the catalogue by id, including retired ones, and whether each offer can be routed to. Pure. */
export function listModels(catalogue: Catalogue, nowMs: number): ListedModel[] {
  return [...catalogue.models.values()]
    .filter((model) => model.offers.length > 0)
    .map((model) => listModel(model, nowMs))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}

function listModel(model: ModelFacts, nowMs: number): ListedModel {
  const slash = model.id.indexOf('/');
  const retired = model.offers.filter((offer) => isRetired(offer, nowMs));
  return {
    id: model.id,
    name: model.name,
    vendor: slash > 0 ? model.id.slice(0, slash) : (model.offers[0]?.provider.id ?? ''),
    aliases: [...model.aliases],
    contextTokens: model.contextTokens,
    maxOutputTokens: model.maxOutputTokens,
    input: [...model.input],
    output: [...model.output],
    reasoning: model.reasoning,
    released: model.released,
    retires: lastDayOf(model),
    offers: model.offers.filter((offer) => !isRetired(offer, nowMs)).map(listOffer),
    retired: retired.map((offer) => ({
      provider: offer.provider.id,
      providerName: offer.provider.name,
      day: retirementDay(offer) ?? '',
    })),
  };
}

/** Null while the end of an offer is not known. */
function lastDayOf({ offers }: ModelFacts): string | null {
  const days = offers.map((offer) => retirementDay(offer) ?? '');
  return days.includes('') ? null : (days.sort().at(-1) ?? null);
}

function listOffer(offer: OfferFacts): ListedOffer {
  const why = whyUnavailable(offer);
  return {
    provider: offer.provider.id,
    providerName: offer.provider.name,
    upstreamModel: offer.upstreamModel,
    families: [...offer.families],
    abilities: { ...offer.abilities },
    unserved: [...offer.unserved],
    price: offer.price && listPriceOf(offer.price, offer.provider.pricesFrom),
    available: why === null,
    why,
  };
}

function listPriceOf({ price, effectiveAtMs }: PriceVersion, source: string | null): ListedPrice {
  return {
    input: price.base.input === undefined ? null : formatUsd(price.base.input),
    output: price.base.output === undefined ? null : formatUsd(price.base.output),
    text: priceText(price),
    effectiveAt: new Date(effectiveAtMs).toISOString(),
    source,
    bands: listPrice(price),
  };
}

/** Why an offer cannot be called, and what to do; null: it can. */
export function whyUnavailable(offer: OfferFacts): string | null {
  const { provider, price, families } = offer;
  if (price === null) return 'it has no price: add one to the catalogue file';
  if (poolOf(offer).length === 0) {
    if (provider.credentials.length > 0) return 'no credential of the provider may serve this model';
    const fault = provider.credentialFaults?.get(defaultCredential);
    if (fault !== undefined) return `${provider.credentialEnv ?? 'its credential'} cannot be used: ${fault}`;
    return provider.credentialEnv === null
      ? 'the provider has no usable credential: add one to the catalogue file'
      : `set ${provider.credentialEnv}`;
  }
  const addresses = [...families].map((family) => provider.families.get(family));
  if (addresses.some((address) => address?.state === 'ready')) return null;
  const broken = addresses.find((address) => address !== undefined);
  return broken && broken.state !== 'ready' ? broken.why : 'the provider has no address for its families';
}
