import { priceText } from '#lib/catalogue/difference';
import { formatUsd } from '#lib/money';
import type { Catalogue, OfferFacts } from '#lib/snapshot/snapshot';

/** A model of the catalogue with its offers, for "catalogue list" and the console; money in dollars. */
export interface ListedModel {
  id: string;
  name: string;
  aliases: string[];
  contextTokens: number;
  maxOutputTokens: number;
  input: string[];
  output: string[];
  offers: ListedOffer[];
}
interface ListedOffer {
  provider: string;
  upstreamModel: string;
  families: string[];
  /** Per million tokens; null: no price of that class. */
  price: { input: string | null; output: string | null; text: string } | null;
  available: boolean;
  /** Why it is not available, and what to do; null when it is. */
  why: string | null;
}

/** What the catalogue holds, and whether each offer can be routed to. Pure. */
export function listModels(catalogue: Catalogue): ListedModel[] {
  return [...catalogue.models.values()]
    .filter((model) => model.offers.length > 0)
    .map((model) => ({
      id: model.id,
      name: model.name,
      aliases: [...model.aliases],
      contextTokens: model.contextTokens,
      maxOutputTokens: model.maxOutputTokens,
      input: [...model.input],
      output: [...model.output],
      offers: model.offers.map(listOffer),
    }))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}

function listOffer(offer: OfferFacts): ListedOffer {
  const price = offer.price?.price ?? null;
  const why = whyUnavailable(offer, price !== null);
  return {
    provider: offer.provider.id,
    upstreamModel: offer.upstreamModel,
    families: [...offer.families],
    price: price && {
      input: price.base.input === undefined ? null : formatUsd(price.base.input),
      output: price.base.output === undefined ? null : formatUsd(price.base.output),
      text: priceText(price),
    },
    available: why === null,
    why,
  };
}

function whyUnavailable(offer: OfferFacts, priced: boolean): string | null {
  const { provider } = offer;
  if (!priced) return 'it has no price: give it one in the catalogue file';
  if (provider.credential === null) {
    return provider.credentialEnv === null
      ? 'the provider has no usable credential: give it one in the catalogue file'
      : `set ${provider.credentialEnv}`;
  }
  const addresses = [...offer.families].map((family) => provider.families.get(family));
  if (addresses.some((address) => address?.state === 'ready')) return null;
  const broken = addresses.find((address) => address !== undefined);
  return broken && broken.state !== 'ready' ? broken.why : 'the provider has no address for its families';
}
