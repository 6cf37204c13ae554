import { refusal } from '#lib/errors';
import { type Ask, budgetToInject } from '#lib/families/family';
import type { OfferHealth } from '#lib/routing/health';
import type { Plan, Skipped, Target, TimeLimits } from '#lib/routing/target';
import type {
  Catalogue,
  FamilyId,
  KeySnapshot,
  ModelFacts,
  OfferFacts,
  Policy,
} from '#lib/snapshot/snapshot';

/** Attempts a policy may ask for, at the most (decisions §12). */
const MOST_ATTEMPTS = 4;

export interface PlanInput {
  readonly ask: Ask;
  readonly family: FamilyId;
  readonly snapshot: KeySnapshot;
  readonly catalogue: Catalogue;
  healthOf(offerId: string): OfferHealth;
  /** Makes a weighted draw stable per call. */
  readonly callId: string;
  readonly nowMs: number;
}

/**
 * Where a call goes, in order (decisions §12). Pure: the same input gives the same plan.
 * A plan without targets holds the refusal that is answered after admission.
 */
export function plan(input: PlanInput): Plan {
  const policy = policyFor(input.snapshot, input.ask.model);
  const skipped: Skipped[] = [];
  const targets: Target[] = [];
  for (const slug of [input.ask.model, ...(policy.fallbackModels ?? [])]) {
    const model = input.catalogue.models.get(slug);
    if (!model) continue;
    const scope = input.snapshot.key.models;
    if (scope !== null && !scope.has(slug)) {
      skipped.push({ provider: '*', model: slug, why: 'not in the scope of the key' });
      continue;
    }
    for (const offer of ordered(model.offers, policy)) {
      const target = targetOf(input, model, offer, policy);
      if ('why' in target) skipped.push({ provider: offer.provider.id, model: slug, why: target.why });
      else targets.push(target);
    }
  }
  const inService = targets.filter((target) => !isOpen(input, target));
  const setAside = targets.filter((target) => isOpen(input, target));
  const most = Math.min(policy.maxAttempts ?? MOST_ATTEMPTS, MOST_ATTEMPTS);
  return {
    targets: [...inService, ...setAside].slice(0, most),
    skipped,
    timeLimits: timeLimitsOf(policy, input.ask, input.family),
    failure: targets.length === 0 ? noTarget(input, skipped) : null,
  };
}

/** Whether an offer can be routed to in at least one of its families. */
export function isAvailable(offer: OfferFacts): boolean {
  return [...offer.families].some((family) => unavailable(offer, family) === null);
}

function targetOf(
  input: PlanInput,
  model: ModelFacts,
  offer: OfferFacts,
  policy: Policy,
): Target | { readonly why: string } {
  const why = excluded(offer, policy) ?? unavailable(offer, input.family);
  const address = offer.provider.families.get(input.family);
  if (why !== null) return { why };
  if (address?.state !== 'ready' || offer.price === null || offer.provider.credential === null) {
    return { why: 'not available' };
  }
  return {
    model,
    offer,
    family: input.family,
    address: address.url,
    credential: offer.provider.credential,
    price: offer.price,
    injectBudget: budgetToInject(input.ask, input.snapshot.key.maxOutputTokens, model),
  };
}

function excluded(offer: OfferFacts, policy: Policy): string | null {
  const provider = offer.provider.id;
  if (policy.only?.length && !policy.only.includes(provider)) return "not in the policy's only";
  if (policy.ignore?.includes(provider)) return "in the policy's ignore";
  return null;
}

function unavailable(offer: OfferFacts, family: FamilyId): string | null {
  if (!offer.families.has(family)) return `does not speak the ${family} family`;
  if (offer.price === null) return 'has no price';
  if (offer.provider.credential === null) {
    return `has no credential${offer.provider.credentialEnv ? ` (${offer.provider.credentialEnv} is not set)` : ''}`;
  }
  const address = offer.provider.families.get(family);
  if (!address) return `has no address for the ${family} family`;
  return address.state === 'ready' ? null : address.why;
}

function ordered(offers: readonly OfferFacts[], policy: Policy): readonly OfferFacts[] {
  const order = policy.order ?? [];
  if (order.length === 0) return offers;
  const named = order.flatMap((id) => offers.filter((offer) => offer.provider.id === id));
  return [...named, ...offers.filter((offer) => !order.includes(offer.provider.id))];
}

function policyFor(snapshot: KeySnapshot, model: string): Policy {
  return { ...snapshot.policies.get(''), ...snapshot.policies.get(model) };
}

function isOpen(input: PlanInput, target: Target): boolean {
  return input.healthOf(target.offer.id).openUntilMs > input.nowMs;
}

function timeLimitsOf(policy: Policy, ask: Ask, family: FamilyId): TimeLimits {
  const set = policy.timeouts ?? {};
  const whole = ask.operation.steps !== 'generate' ? 60_000 : family === 'images' ? 300_000 : 600_000;
  return {
    connectMs: set.connectMs ?? 5_000,
    firstByteMs: ask.stream ? (set.firstByteMs ?? 120_000) : (set.firstByteWholeMs ?? whole),
    idleMs: set.idleMs ?? 300_000,
    totalMs: set.totalMs ?? 3_600_000,
  };
}

/** 502, named after what the closest offer lacks: a wrong address, else a missing one (decisions §3). */
function noTarget(input: PlanInput, skipped: readonly Skipped[]) {
  const offers = input.catalogue.models.get(input.ask.model)?.offers ?? [];
  const broken = offers
    .map((offer) => offer.provider.families.get(input.family))
    .find((address) => address?.state === 'invalid');
  const reasons = skipped.map((one) => `${one.provider} ${one.why}`).join('; ');
  return broken
    ? refusal(
        'invalid_upstream_base_url',
        `No provider of ${input.ask.model} has a usable address (${reasons}); the gateway's operator must correct it.`,
      )
    : refusal(
        'missing_upstream_base_url',
        `No provider of ${input.ask.model} can be routed to (${reasons || 'it has no offers'}); choose another model, or have the gateway's operator set this up.`,
      );
}
