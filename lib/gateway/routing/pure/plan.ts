import { type Refusal, refusal } from '#lib/core/errors';
import { isOwnKeyName, type Keeper } from '#lib/core/facts/credential';
import type { Catalogue, KeySnapshot, ModelFacts, OfferFacts } from '#lib/core/facts/snapshot';
import { type Ask, budgetToInject } from '#lib/core/families/family';
import type { FamilyId } from '#lib/core/families/ids';
import { estimateInput } from '#lib/core/metering/estimate-input';
import { coversTier, tierOf } from '#lib/core/metering/service-tier';
import type { Unreadable } from '#lib/core/translation/conversation';
import type { OfferHealth } from '#lib/gateway/routing/health';
import { arrange } from '#lib/gateway/routing/pure/arrange';
import { Asked, type UnableOffer, unableToServe } from '#lib/gateway/routing/pure/asked';
import {
  describeOffer,
  exclude,
  noOfferAtTier,
  type OfferNeeds,
  type WhyOffer,
} from '#lib/gateway/routing/pure/exclude';
import { misfit, type WhyModel } from '#lib/gateway/routing/pure/fit';
import { nestedAt, noProviderOfAll } from '#lib/gateway/routing/pure/nested';
import {
  addressOf,
  healthIdOf,
  keepersOf,
  type OwnChoice,
  openUntilOf,
  orderPool,
  ownChoice,
  poolOf,
  reachable,
} from '#lib/gateway/routing/pure/pool';
import { type Rules, rulesFor } from '#lib/gateway/routing/pure/rules';
import type { Plan, Target } from '#lib/gateway/routing/pure/target';
import { timeLimitsOf } from '#lib/gateway/routing/pure/time-limits';
import { isTranslatable, spokenFamily, translatedBudget } from '#lib/gateway/routing/pure/translate';

/** Output for which a price is calculated: what the request allows, up to a usual answer; tokens. */
const USUAL_OUTPUT = 1_000;

export interface PlanInput {
  readonly ask: Ask;
  readonly family: FamilyId;
  readonly snapshot: KeySnapshot;
  readonly catalogue: Catalogue;
  /** By the id of an offer, or as `healthIdOf` says. */
  healthOf(id: string): OfferHealth;
  /** Makes a weighted draw stable per call. */
  readonly callId: string;
  readonly nowMs: number;
  /** Who keeps state that the call continues: its one target, without fallback. */
  readonly pinned?: Keeper | null;
  /** Who holds the call's prompt cache, if that is known. */
  readonly holder?: Keeper | null;
  /** The client turned fallback off for this call (`X-No-Fallback: true`). */
  readonly noFallback?: boolean;
  /** The client turned translation off for this call (`X-Translate: never`). */
  readonly noTranslation?: boolean;
  /**
   * Why the request cannot be written in another protocol; null: it can. Absent: that is not known, so such offers stay
   * in the plan.
   */
  untranslatable?(target: Target): Unreadable | null;
}

/** Called for what a plan leaves out; made for explanations, absent on the path of calls. */
export interface Leftovers {
  offer(why: WhyOffer, model: ModelFacts, offer: OfferFacts): void;
  model(why: WhyModel, slug: string, model: ModelFacts | undefined): void;
}

/**
 * Where a call goes, in order (contract: routing/plan). Pure: the same input gives the same plan.
 * A plan without targets contains the refusal that is answered after admission.
 */
export function plan(input: PlanInput): Plan {
  const rules = rulesFor(input.snapshot.policies, input.ask.model);
  const offers = candidates(input, rules, null);
  const most = attemptsOf(input, rules);
  const targets: Target[] = [];
  let refused: Unreadable | null = null;
  for (const offer of offers) {
    if (targets.length === most) break;
    const target = targetOf(input, offer);
    if (!target) continue;
    // Behind a target that speaks the client's protocol, the request is read only if it comes to that.
    const why = targets.some(({ family }) => family === input.family) ? null : misfitOf(input, target);
    if (why === null) targets.push(target);
    else refused ??= why;
  }
  return {
    targets,
    attempts: most,
    timeLimits: timeLimitsOf(rules.policy, input.ask),
    ...(targets.length === 0 ? noTarget(input, rules, refused) : reached),
  };
}

/** Why a plan has no target. */
type Failed = Pick<Plan, 'failure' | 'unable'>;

/** Why the request cannot be written for a target; null: it can, or need not be. */
export function misfitOf(input: PlanInput, target: Target): Unreadable | null {
  return target.family === input.family ? null : (input.untranslatable?.(target) ?? null);
}

const reached: Failed = { failure: null, unable: false };

/** How many targets this call may try. */
export function attemptsOf(input: PlanInput, rules: Rules): number {
  return input.noFallback || input.pinned ? 1 : rules.maxAttempts;
}

/**
 * Steps 1 to 5 (contract: routing/plan): every offer that the call could go to, in order; those that the breaker
 * has set aside are at the end.
 */
export function candidates(input: PlanInput, rules: Rules, left: Leftovers | null): readonly OfferFacts[] {
  const { ask, catalogue } = input;
  const wanted = wantedOf(input, rules);
  const model = catalogue.models.get(ask.model);
  const first = model ? fromModel(input, wanted, model, left) : [];
  const fallbacks = ask.operation.sameModel ? [] : (ask.chain ?? rules.fallbackModels);
  if (fallbacks.length === 0 || input.pinned) return asideLast(input, first);
  const all = [...first];
  const needs = { ask, wanted, scope: input.snapshot.key.models };
  for (const slug of fallbacks) {
    if (slug === ask.model) continue;
    const other = catalogue.models.get(slug);
    const why = misfit(slug, other, needs);
    if (why !== null) left?.model(why, slug, other);
    else if (other) all.push(...fromModel(input, wanted, other, left));
  }
  return asideLast(input, rules.translate === 'fallback' ? nativeFirst(input, all) : all);
}

function nativeFirst({ family }: PlanInput, offers: readonly OfferFacts[]): readonly OfferFacts[] {
  if (offers.every(({ families }) => families.has(family))) return offers;
  const speaks = (offer: OfferFacts) => offer.families.has(family);
  return [...offers.filter(speaks), ...offers.filter((offer) => !speaks(offer))];
}

/** The requirements on each offer. */
export function wantedOf(input: PlanInput, rules: Rules): OfferNeeds {
  const { ask, family, nowMs } = input;
  return {
    family,
    rules,
    translates:
      rules.translate !== 'never' &&
      input.noTranslation !== true &&
      isTranslatable(ask, family, input.pinned ?? null),
    inputTokens: estimateInput(ask.weight),
    tier: tierOf(ask.serviceTier),
    pinned: input.pinned ?? null,
    own: ownFor(input, input.catalogue.models.get(ask.model)),
    nowMs,
    asked: new Asked(ask, family),
  };
}

/** What is stored is reached by the own key that made it, whichever models that may serve by now. */
function ownFor({ snapshot: { ownKeys }, pinned }: PlanInput, model: ModelFacts | undefined): OwnChoice {
  return pinned || !model ? { keys: ownKeys ?? [], only: false } : ownChoice(ownKeys, model);
}

/** Steps 1 to 4 for one model. */
function fromModel(
  input: PlanInput,
  asked: OfferNeeds,
  model: ModelFacts,
  left: Leftovers | null,
): readonly OfferFacts[] {
  const wanted = model.id === input.ask.model ? asked : { ...asked, own: ownFor(input, model) };
  const kept: OfferFacts[] = [];
  for (const offer of model.offers) {
    const why = exclude(offer, wanted) ?? outOfReach(input, wanted, offer);
    if (why === null) kept.push(offer);
    else left?.offer(why, model, offer);
  }
  if (kept.length < 2) return kept;
  const arranged = arrange(kept, wanted.rules, {
    healthOf: input.healthOf,
    callId: input.callId,
    nowMs: input.nowMs,
    stream: input.ask.stream,
    inputTokens: wanted.inputTokens,
    tier: wanted.tier,
    outputTokens: Math.min(input.ask.budget ?? USUAL_OUTPUT, USUAL_OUTPUT) * input.ask.choices,
    holder: input.holder?.providerId ?? null,
  });
  return nativeFirst(input, ownFirst(input, wanted, arranged));
}

/**
 * Behind the offers that the policy's `order` names, those with an own key to be used first go before the others
 * (contract: own-keys/use), unless it is set aside.
 */
function ownFirst(
  { healthOf, nowMs }: PlanInput,
  { rules, own }: OfferNeeds,
  offers: readonly OfferFacts[],
): readonly OfferFacts[] {
  if (own.keys.length === 0 || own.only) return offers;
  const isNamed = ({ provider }: OfferFacts) => rules.order.includes(provider.id);
  const goesFirst = (offer: OfferFacts) =>
    poolOf(offer, own).some(
      (one) => one.own?.use === 'first' && healthOf(healthIdOf(offer, one)).openUntilMs <= nowMs,
    );
  const named = offers.filter(isNamed);
  const rest = offers.filter((offer) => !isNamed(offer));
  return [...named, ...rest.filter(goesFirst), ...rest.filter((offer) => !goesFirst(offer))];
}

/**
 * What the request itself rules out: its state is at another provider, or this one lacks a nested model or the tier.
 */
function outOfReach(
  { pinned, ask, catalogue, nowMs }: PlanInput,
  { tier, asked }: OfferNeeds,
  offer: OfferFacts,
): WhyOffer | null {
  if (pinned && offer.provider.id !== pinned.providerId) return 'pinned';
  if (ask.nested && !nestedAt(ask.nested, offer.provider.id, catalogue, nowMs)) return 'nested';
  if (tier !== null && !(offer.price && coversTier(offer.price.price, tier))) return 'tier';
  return asked.whyNot(offer);
}

function asideLast(input: PlanInput, offers: readonly OfferFacts[]): readonly OfferFacts[] {
  if (offers.length < 2) return offers;
  const isOpen = (offer: OfferFacts) => asideUntil(input, offer) > input.nowMs;
  if (!offers.some(isOpen)) return offers;
  return [...offers.filter((offer) => !isOpen(offer)), ...offers.filter(isOpen)];
}

/** Until when all credentials by which this call may use an offer are set aside, ms since the epoch. */
export function asideUntil(input: PlanInput, offer: OfferFacts): number {
  const { ownKeys } = input.snapshot;
  if (!ownKeys || ownKeys.length === 0) return input.healthOf(offer.id).openUntilMs;
  const own = ownFor(input, input.catalogue.models.get(offer.modelId));
  return openUntilOf(offer, poolOf(offer, own), input.healthOf);
}

/** What `exclude` has let through has all that an attempt needs, so null is unreachable. */
export function targetOf(input: PlanInput, offer: OfferFacts): Target | null {
  const model = input.catalogue.models.get(offer.modelId);
  const family = spokenFamily(offer, input.family);
  if (!model || !family || offer.price === null) return null;
  const own = ownFor(input, model);
  const pool = input.pinned
    ? keepersOf(offer.provider, input.pinned.credential, own.keys)
    : orderPool(offer, reachable(poolOf(offer, own), offer.provider, family), {
        callId: input.callId,
        healthOf: input.healthOf,
        nowMs: input.nowMs,
        holder: input.holder?.providerId === offer.provider.id ? input.holder.credential : null,
      });
  const [credential] = pool;
  const address = credential && addressOf(offer.provider, family, credential);
  if (!credential || !address) return null;
  const nested =
    input.ask.nested && nestedAt(input.ask.nested, offer.provider.id, input.catalogue, input.nowMs);
  return {
    ...(nested ? { nested } : {}),
    model,
    offer,
    family,
    address,
    credential,
    pool,
    price: offer.price,
    injectBudget:
      family === input.family
        ? budgetToInject(input.ask, input.snapshot.key.maxOutputTokens, model)
        : translatedBudget(input.ask, input.snapshot.key.maxOutputTokens, model),
  };
}

/**
 * 400 when an offer lacks only a price or the service tier that is asked for, when the state that the call continues is
 * kept where its model has no offer, or when all offers that could serve it are retired (contract: routing/no-target);
 * else 502, named after what the closest offer lacks: a wrong address, else a missing one.
 * @param refused why the request cannot be written for an offer that could be called otherwise; null: there is none.
 */
export function noTarget(input: PlanInput, rules: Rules, refused: Unreadable | null): Failed {
  if (refused) return { failure: noTranslation(input, refused), unable: false };
  const wanted = wantedOf(input, rules);
  const unable: UnableOffer[] = [];
  const failure = nowhere(input, wanted, unable);
  return unable.length > 0
    ? { failure: unableToServe(input.ask.model, wanted.asked, unable), unable: true }
    : { failure, unable: false };
}

/** @param unable gets the offers that could be called but for what the request asks. */
function nowhere(input: PlanInput, wanted: OfferNeeds, unable: UnableOffer[]): Refusal {
  const slug = input.ask.model;
  const reasons: string[] = [];
  const whys = new Set<WhyOffer>();
  const withoutTier: OfferFacts[] = [];
  let broken = false;
  let keeperOffers = false;
  let lacksNested = false;
  let unpriced = 0;
  let others = 0;
  candidates(input, wanted.rules, {
    offer: (why, model, offer) => {
      whys.add(why);
      if (why === 'operation' || why === 'ability') unable.push({ offer, why });
      if (why === 'tier') withoutTier.push(offer);
      if (why === 'unpriced') unpriced += 1;
      else if (why !== 'family') others += 1;
      broken ||= why === 'invalid_address' && model.id === slug;
      lacksNested ||= why === 'nested' && model.id === slug;
      keeperOffers ||= offer.provider.id === input.pinned?.providerId && why !== 'family';
      reasons.push(`${offer.provider.id} ${describeOffer(why, offer, wanted)}`);
    },
    model: () => {},
  });
  if (withoutTier.length > 0) return noOfferAtTier(slug, wanted.tier, withoutTier);
  const told = reasons.join('; ');
  if (broken) {
    return refusal(
      'invalid_upstream_base_url',
      `No provider of ${slug} has a usable address (${told}); the gateway's operator must correct it.`,
    );
  }
  if (input.pinned && isOwnKeyName(input.pinned.credential) && whys.has('own_key'))
    return withoutOwnKey(input.pinned.providerId);
  if (whys.has('own_key') && [...whys].every((why) => why === 'own_key' || why === 'family')) {
    return refusal(
      'model_not_allowed',
      `Model ${slug} is called by own keys of the workspace only, and none can be used (${told}); store the key again, or have it used "first" or "last".`,
    );
  }
  if (input.pinned && !keeperOffers) {
    return refusal(
      'model_not_allowed',
      `Model ${slug} is not offered by the provider that stores the state that this request continues; use the model that made it.`,
    );
  }
  if (
    whys.has('retired') &&
    [...whys].every((why) => why === 'retired' || why === 'family' || why === 'pinned')
  ) {
    return refusal(
      'model_not_allowed',
      `Model ${slug} is retired (${told}); choose another model from GET /v1/models.`,
    );
  }
  if (lacksNested) return noProviderOfAll(input.ask);
  // Retrying does not help: only the operator can give it a price.
  if (unpriced > 0 && others === 0) {
    return refusal(
      'model_not_allowed',
      `Model ${slug} has no price at this gateway (${told}); choose another model from GET /v1/models, or ask the gateway's operator to set a price.`,
    );
  }
  return refusal(
    'missing_upstream_base_url',
    `No provider of ${slug} is available (${told || 'it has no offers'}); choose another model, change the workspace's routing policy, or ask the gateway's operator.`,
  );
}

/** 404: what an own key made is out of reach without it (contract: own-keys/stored). */
export function withoutOwnKey(providerId: string): Refusal {
  return refusal(
    'not_found',
    `This was stored at ${providerId} by an own key of the workspace that was deleted or can no longer be used; it can be reached at ${providerId} only with that key.`,
  );
}

/**
 * 400: the offers that could be called speak another protocol, in which this request cannot be written
 * (contract: translation/refused).
 */
function noTranslation({ ask, family, catalogue }: PlanInput, { message, details }: Unreadable): Refusal {
  const model = catalogue.models.get(ask.model);
  const native = model?.offers.some(({ families }) => families.has(family)) ?? false;
  if (native) {
    return refusal(
      'model_not_allowed',
      `No provider of ${ask.model} that speaks this protocol is available, and the request cannot be translated for the others. ${message}`,
      details && { details },
    );
  }
  return refusal(
    'invalid_body',
    `Model ${ask.model} is called by translation. ${message}`,
    details && { details },
  );
}
