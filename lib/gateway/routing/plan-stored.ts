import { type Refusal, refusal } from '#lib/core/errors';
import { isOwnKeyName } from '#lib/core/facts/credential';
import type { Resource } from '#lib/core/facts/resource';
import type { Catalogue, KeySnapshot, OfferFacts } from '#lib/core/facts/snapshot';
import type { Ask } from '#lib/core/families/family';
import { withoutOwnKey } from '#lib/gateway/routing/pure/plan';
import { addressOf, keepersOf } from '#lib/gateway/routing/pure/pool';
import { rulesFor } from '#lib/gateway/routing/pure/rules';
import type { Plan, Target } from '#lib/gateway/routing/pure/target';
import { timeLimitsOf } from '#lib/gateway/routing/pure/time-limits';

export interface StoredPlanInput {
  readonly ask: Ask;
  readonly resource: Resource;
  readonly catalogue: Catalogue;
  readonly snapshot: Pick<KeySnapshot, 'policies' | 'ownKeys'>;
}

/**
 * Where a call on something that a provider keeps goes (contract: routing/pinned): there and nowhere else, by the
 * credential that made it, whatever the policy says, also when the offer or the credential was withdrawn. Pure.
 */
export function planStored(input: StoredPlanInput): Plan {
  const { ask, snapshot } = input;
  const limits = timeLimitsOf(rulesFor(snapshot.policies, ask.model).policy, ask);
  // A download may take as long as its bytes keep coming.
  const timeLimits = ask.operation.download ? { ...limits, totalMs: Number.POSITIVE_INFINITY } : limits;
  const target = targetAt(input);
  return 'code' in target
    ? { targets: [], attempts: 1, timeLimits, failure: target, unable: false }
    : { targets: [target], attempts: 1, timeLimits, failure: null, unable: false };
}

function targetAt({ resource, catalogue, snapshot }: StoredPlanInput): Target | Refusal {
  const { providerId, family } = resource;
  const lent = lentOffer(resource, catalogue);
  const provider = catalogue.providers.get(providerId) ?? lent?.provider;
  const pool = provider ? keepersOf(provider, resource.credential, snapshot.ownKeys) : [];
  const [credential] = pool;
  if (!credential && isOwnKeyName(resource.credential)) return withoutOwnKey(providerId);
  const given = provider?.families.get(family);
  const address = provider && credential && addressOf(provider, family, credential);
  if (!address && given?.state === 'invalid') {
    return refusal(
      'invalid_upstream_base_url',
      `Provider ${providerId}, which stores this, has no usable address (${given.why}); the gateway's operator must correct it.`,
    );
  }
  const model = lent && catalogue.models.get(lent.modelId);
  if (!provider || !lent?.price || !model || !address || !credential) {
    const lacks = !given || !lent ? `the ${family} family` : given.state === 'missing' ? given.why : '';
    return refusal(
      'missing_upstream_base_url',
      `Provider ${providerId}, which stores this, cannot be reached at the moment (it lacks ${lacks || 'a credential'}); the gateway's operator must configure it again.`,
    );
  }
  return {
    model: catalogue.models.get(resource.modelId) ?? { ...model, id: resource.modelId },
    offer: { ...lent, modelId: resource.modelId, upstreamModel: resource.upstreamModel },
    family,
    address,
    credential,
    pool,
    price: lent.price,
    injectBudget: null,
  };
}

/** The offer that made it, else any of that provider in its family, else any of that provider. */
export function lentOffer(
  resource: Pick<Resource, 'providerId' | 'family' | 'modelId'>,
  catalogue: Catalogue,
): OfferFacts | null {
  let best: OfferFacts | null = null;
  let bestRank = 0;
  for (const model of catalogue.models.values()) {
    for (const offer of model.offers) {
      if (offer.provider.id !== resource.providerId || offer.price === null) continue;
      const rank = !offer.families.has(resource.family) ? 1 : model.id === resource.modelId ? 3 : 2;
      if (rank > bestRank) [best, bestRank] = [offer, rank];
    }
  }
  return best;
}
