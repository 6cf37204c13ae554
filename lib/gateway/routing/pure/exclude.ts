import { type Refusal, refusal } from '#lib/core/errors';
import { abilityWords } from '#lib/core/facts/abilities';
import { isOwnKeyName, type Keeper, type OwnKey } from '#lib/core/facts/credential';
import { defaultCredential } from '#lib/core/facts/pool';
import { isRetired, retirementDay } from '#lib/core/facts/retired';
import type { Catalogue, ModelFacts, OfferFacts } from '#lib/core/facts/snapshot';
import { type FamilyId, familyIds } from '#lib/core/families/ids';
import { formatUsd } from '#lib/core/money';
import type { Asked } from '#lib/gateway/routing/pure/asked';
import {
  keepersOf,
  noOwnKeys,
  type OwnChoice,
  ownChoice,
  poolOf,
  reachable,
} from '#lib/gateway/routing/pure/pool';
import { ratesAt } from '#lib/gateway/routing/pure/rates';
import type { Rules } from '#lib/gateway/routing/pure/rules';
import { spokenFamily } from '#lib/gateway/routing/pure/translate';

/** Why an offer of a model in scope is left out of a plan: a code, put into words only when asked for. */
export type WhyOffer =
  | 'retired'
  | 'only'
  | 'ignore'
  | 'family'
  | 'unpriced'
  | 'credential'
  | 'own_key'
  | 'no_address'
  | 'missing_address'
  | 'invalid_address'
  | 'input_price'
  | 'output_price'
  | 'pinned'
  | 'nested'
  | 'tier'
  | 'operation'
  | 'ability';

/** The properties of a request and its policy that offers must meet. */
export interface OfferNeeds {
  readonly family: FamilyId;
  /** Offers that speak only another protocol are candidates too. */
  readonly translates: boolean;
  readonly rules: Rules;
  /** The request's estimate: a context tier may cost more than `maxPrice`. */
  readonly inputTokens: number;
  /** The service tier that is asked for, as `tierOf` names it; null: none. */
  readonly tier: string | null;
  /** Who keeps what the call continues; null: it continues nothing. */
  readonly pinned: Keeper | null;
  /** The workspace's own keys for the offer's model. */
  readonly own: OwnChoice;
  /** ms since the epoch: offers that have retired by then are left out. */
  readonly nowMs: number;
  /** What the request asks of an offer. */
  readonly asked: Asked;
}

/** Whether an offer can be routed to in at least one of its families. */
export function isAvailable(offer: OfferFacts, nowMs: number, own = noOwnKeys): boolean {
  for (const family of offer.families) if (canServe(offer, family, nowMs, own)) return true;
  return false;
}

/**
 * The protocols in which a model can be called through offers that can be routed to: those that the offers speak, and,
 * if `translates`, those whose calls are translated for them.
 */
export function callableFamilies(
  model: ModelFacts,
  translates: boolean,
  nowMs: number,
  ownKeys?: readonly OwnKey[],
): ReadonlySet<FamilyId> {
  const { offers, output } = model;
  const choice = ownChoice(ownKeys, model);
  const spoken = (offer: OfferFacts, family: FamilyId) =>
    translates && output.includes('text') ? spokenFamily(offer, family) : family;
  const serves = (family: FamilyId) => (offer: OfferFacts) => {
    const own = spoken(offer, family);
    return own !== null && canServe(offer, own, nowMs, choice);
  };
  return new Set(familyIds.filter((family) => offers.some(serves(family))));
}

/** The models that have an offer of this family which can be routed to. */
export function listRoutable(catalogue: Catalogue, family: FamilyId, nowMs: number): Set<string> {
  const models = [...catalogue.models.values()];
  return new Set(
    models
      .filter((model) => model.offers.some((offer) => canServe(offer, family, nowMs)))
      .map((model) => model.id),
  );
}

/**
 * Step 1 of a plan (contract: routing/plan): available offers after `only`, `ignore` and `maxPrice`.
 * @returns null when the offer may be routed to.
 */
export function exclude(offer: OfferFacts, wanted: OfferNeeds): WhyOffer | null {
  if (isRetired(offer, wanted.nowMs)) return 'retired';
  const { rules } = wanted;
  const provider = offer.provider.id;
  if (rules.only !== null && !rules.only.has(provider)) return 'only';
  if (rules.ignore?.has(provider)) return 'ignore';
  const family = wanted.translates ? spokenFamily(offer, wanted.family) : wanted.family;
  return unavailable(offer, family, wanted) ?? overPrice(offer, wanted);
}

function canServe(offer: OfferFacts, family: FamilyId, nowMs: number, own = noOwnKeys): boolean {
  return !isRetired(offer, nowMs) && unavailable(offer, family, { family, pinned: null, own }) === null;
}

/** @param family spoken by the offer. @param wanted with the client's. */
function unavailable(
  offer: OfferFacts,
  family: FamilyId | null,
  { family: asked, pinned, own }: Pick<OfferNeeds, 'family' | 'pinned' | 'own'>,
): WhyOffer | null {
  if (family === null || !offer.families.has(family)) return 'family';
  if (offer.price === null) return 'unpriced';
  const pool = pinned ? keepersOf(offer.provider, pinned.credential, own.keys) : poolOf(offer, own);
  if (pool.length === 0)
    return own.only || (pinned && isOwnKeyName(pinned.credential)) ? 'own_key' : 'credential';
  if (reachable(pool, offer.provider, family).length > 0) return null;
  const address = offer.provider.families.get(family);
  if (!address) return family === asked ? 'no_address' : 'family';
  if (address.state === 'ready') return 'own_key';
  return address.state === 'missing' ? 'missing_address' : 'invalid_address';
}

function overPrice(offer: OfferFacts, { rules, inputTokens, tier }: OfferNeeds): WhyOffer | null {
  if (offer.price === null || (rules.maxInputNano === Infinity && rules.maxOutputNano === Infinity))
    return null;
  const rates = ratesAt(offer.price.price, inputTokens, tier);
  if (rates.input > rules.maxInputNano) return 'input_price';
  return rates.output > rules.maxOutputNano ? 'output_price' : null;
}

/** The code in words, for messages and `route explain`. */
export function describeOffer(why: WhyOffer, offer: OfferFacts, wanted: OfferNeeds): string {
  const { family, rules, inputTokens, tier, translates } = wanted;
  const { credentials, credentialEnv, credentialFaults, families } = offer.provider;
  const address = families.get(spokenFamily(offer, family) ?? family);
  const rates = offer.price && ratesAt(offer.price.price, inputTokens, tier);
  switch (why) {
    case 'retired':
      return `retired on ${retirementDay(offer)}`;
    case 'only':
      return "not in the policy's only";
    case 'ignore':
      return "in the policy's ignore";
    case 'family':
      return `does not support the ${family} family${translates ? '' : ', and calls are not translated here'}`;
    case 'unpriced':
      return 'has no price';
    case 'credential':
      if (credentials.length > 0) return 'has no credential that may serve this model';
      if (credentialFaults?.has(defaultCredential))
        return `has no usable credential${credentialEnv ? ` (${credentialEnv} has another form than its cloud takes)` : ''}`;
      return `has no credential${credentialEnv ? ` (${credentialEnv} is not set)` : ''}`;
    case 'own_key':
      return wanted.pinned
        ? 'no longer has the credential that made this'
        : 'has no own key of this workspace that can be used, and this model is called by own keys only';
    case 'no_address':
      return `has no address for the ${family} family`;
    case 'missing_address':
    case 'invalid_address':
      return address && address.state !== 'ready' ? address.why : 'has no usable address';
    case 'input_price':
      return `too expensive: input costs $${dollars(rates?.input)} per million tokens, maxPrice is $${rules.policy.maxPrice?.input}`;
    case 'output_price':
      return `too expensive: output costs $${dollars(rates?.output)} per million tokens, maxPrice is $${rules.policy.maxPrice?.output}`;
    case 'pinned':
      return 'the call is bound to another provider, which stores its state';
    case 'nested':
      return 'does not offer every model that the request names inside its body';
    case 'operation':
      return `does not serve ${wanted.asked.operationAt(offer)}`;
    case 'ability':
      return `cannot do what the request asks: ${abilityWords(wanted.asked.lackedBy(offer))}`;
    case 'tier':
      return `has no price for service tier "${shortTier(tier)}" (it has ${tiersOf([offer]).join(', ')})`;
  }
}

function dollars(nano: number | undefined): string {
  return formatUsd(BigInt(nano ?? 0));
}

/** Longest tier name repeated in a message, since it comes from the client; characters. */
const LONGEST_TOLD = 40;

/** The tiers that at least one of these offers supports: the standard one, then those with a price. */
function tiersOf(offers: readonly OfferFacts[]): readonly string[] {
  const priced = offers.flatMap((offer) => Object.keys(offer.price?.price.serviceTiers ?? {}));
  return ['default', ...[...new Set(priced)].sort()];
}

/** A tier's name as messages show it. */
function shortTier(tier: string | null): string {
  return (tier ?? 'default').replace(/[^\w.+-]/g, '?').slice(0, LONGEST_TOLD);
}

/**
 * 400 for a service tier or fast mode that no eligible offer has a price for (contract: money/tier-asked).
 * @param offers those that are eligible apart from the tier.
 */
export function noOfferAtTier(slug: string, tier: string | null, offers: readonly OfferFacts[]): Refusal {
  const there = tiersOf(offers);
  const advice =
    there.length > 1
      ? `ask for one of ${there.join(', ')}`
      : 'leave service_tier and speed out, or ask for "default"';
  return refusal(
    'model_not_allowed',
    `Model ${slug} has no service tier "${shortTier(tier)}" here; ${advice}.`,
  );
}
