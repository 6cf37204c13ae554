import type { ListedModel, ListedOffer } from '#lib/control/catalogue/list';
import { parseUsd } from '#lib/core/money';
import { simulatedProvider } from '#lib/core/simulated';

/** What the catalogue knows of a model beyond its sizes and modalities. */
export const capabilities = [
  'tools',
  'structured-output',
  'reasoning',
  'caching',
  'web-search',
  'service-tiers',
  'free',
] as const;
export type Capability = (typeof capabilities)[number];

/** By what the catalogue's page is sorted. */
export const sortKeys = ['name', 'released', 'context', 'input', 'output'] as const;
export type SortKey = (typeof sortKeys)[number];

/** What narrows a list of models; what is left out does not. */
export interface ModelFilters {
  /** In the name, the slug or an alias; several words must all be there. */
  readonly search?: string | undefined;
  readonly provider?: string | undefined;
  readonly family?: string | undefined;
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  /** Tokens. */
  readonly minContext?: number | undefined;
  /** Nano-dollars per million tokens. */
  readonly maxInputPrice?: bigint | undefined;
  readonly maxOutputPrice?: bigint | undefined;
  readonly capability?: Capability | undefined;
  readonly available?: boolean | undefined;
}

/**
 * The models that fit. What an offer must be, one and the same offer is: it is of the provider, speaks the
 * family, costs at most that, and is available. Pure.
 */
export function findModels(models: readonly ListedModel[], filters: ModelFilters): ListedModel[] {
  const words = (filters.search ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return models.filter(
    (model) =>
      words.every((word) => textOf(model).includes(word)) &&
      (filters.input === undefined || model.input.includes(filters.input)) &&
      (filters.output === undefined || model.output.includes(filters.output)) &&
      (filters.minContext === undefined || model.contextTokens >= filters.minContext) &&
      (filters.capability !== 'reasoning' || model.reasoning) &&
      model.offers.some((offer) => offerFits(offer, filters)),
  );
}

function textOf({ id, name, aliases }: ListedModel): string {
  return [id, name, ...aliases].join(' ').toLowerCase();
}

function offerFits(offer: ListedOffer, filters: ModelFilters): boolean {
  const { provider, family, maxInputPrice, maxOutputPrice, capability, available } = filters;
  return (
    (provider === undefined || offer.provider === provider) &&
    (family === undefined || offer.families.includes(family)) &&
    (maxInputPrice === undefined || atMost(offer.price?.input, maxInputPrice)) &&
    (maxOutputPrice === undefined || atMost(offer.price?.output, maxOutputPrice)) &&
    (capability === undefined || hasCapability(offer, capability)) &&
    (available === undefined || offer.available === available)
  );
}

function atMost(usd: string | null | undefined, most: bigint): boolean {
  return typeof usd === 'string' && parseUsd(usd) <= most;
}

function hasCapability({ price, abilities }: ListedOffer, capability: Capability): boolean {
  const [base] = price?.bands ?? [];
  const priced = (name: string) => base?.rates.some((rate) => rate.class === name) ?? false;
  switch (capability) {
    case 'reasoning':
      return true;
    case 'tools':
      return abilities.tools ?? false;
    case 'structured-output':
      return abilities.schemas ?? false;
    case 'caching':
      return abilities.caching ?? priced('cachedInput');
    case 'web-search':
      return abilities.webSearch ?? priced('webSearch');
    case 'service-tiers':
      return price?.bands.some(({ tier }) => tier !== 'default') ?? false;
    case 'free':
      return base?.rates.every(({ usd }) => parseUsd(usd) === 0n) ?? false;
  }
}

/** The capabilities of a model at one or more of its offers, for badges. */
export function capabilitiesOf(model: ListedModel): Capability[] {
  return capabilities.filter((one) =>
    one === 'reasoning' ? model.reasoning : model.offers.some((offer) => hasCapability(offer, one)),
  );
}

/** The lowest price of a class among the offers that can be called, else among all; null: none has it. */
export function lowestPrice(model: ListedModel, side: 'input' | 'output'): string | null {
  const callable = model.offers.filter(({ available }) => available);
  const prices = (callable.length > 0 ? callable : model.offers).flatMap(({ price }) => price?.[side] ?? []);
  return prices.sort((one, other) => (parseUsd(one) < parseUsd(other) ? -1 : 1))[0] ?? null;
}

export function isCallable(model: ListedModel): boolean {
  return model.offers.some(({ available }) => available);
}

/** Whether only the simulated provider answers for it: for trying out, with invented prices. */
function isSimulated({ offers }: ListedModel): boolean {
  return offers.length > 0 && offers.every(({ provider }) => provider === simulatedProvider);
}

/** Whether a model simulates a fault: such models are listed last. */
export function isFault(id: string): boolean {
  return id.startsWith(`${simulatedProvider}/fault-`);
}

/**
 * Sorted for the page; without a key, those that can be called first, the newest of them on top, and simulated ones at
 * the end, behind which are simulated faults. Models without a figure are last in both directions. Pure.
 */
export function sortModels(
  models: readonly ListedModel[],
  by: SortKey | null,
  descending = false,
): ListedModel[] {
  if (by === null) {
    const newest = sortModels(models, 'released', true);
    const rank = (model: ListedModel) =>
      isFault(model.id) ? 3 : isSimulated(model) ? 2 : isCallable(model) ? 0 : 1;
    return newest.sort((one, other) => rank(one) - rank(other));
  }
  const figures = new Map(models.map((model) => [model, figureOf(model, by)]));
  return [...models].sort((one, other) => {
    const [a = null, b = null] = [figures.get(one), figures.get(other)];
    if (a === b) return one.id < other.id ? -1 : 1;
    if (a === null || b === null) return a === null ? 1 : -1;
    return (a < b ? -1 : 1) * (descending ? -1 : 1);
  });
}

function figureOf(model: ListedModel, by: SortKey): string | number | bigint | null {
  switch (by) {
    case 'name':
      return model.name.toLowerCase();
    case 'released':
      return model.released;
    case 'context':
      return model.contextTokens || null;
    case 'input':
    case 'output': {
      const usd = lowestPrice(model, by);
      return usd === null ? null : parseUsd(usd);
    }
  }
}
