import { type Refusal, refusal } from '#lib/core/errors';
import type { Resource } from '#lib/core/facts/resource';
import type { Catalogue, Policy } from '#lib/core/facts/snapshot';
import type { Ask } from '#lib/core/families/family';
import type { FamilyId } from '#lib/core/families/ids';
import { batchOffer } from '#lib/gateway/routing/plan-placed';
import { keepersOf } from '#lib/gateway/routing/pure/pool';
import { rulesFor } from '#lib/gateway/routing/pure/rules';
import type { Plan, Target } from '#lib/gateway/routing/pure/target';
import { timeLimitsOf } from '#lib/gateway/routing/pure/time-limits';

export interface BatchedPlanInput {
  readonly ask: Ask;
  /** Of the lines. */
  readonly family: FamilyId;
  /** The file with the lines. */
  readonly file: Resource;
  readonly catalogue: Catalogue;
  readonly policies: ReadonlyMap<string, Policy>;
  readonly nowMs: number;
}

/** Where a batch goes: to the provider and the credential that store its file (contract: batches/create). Pure. */
export function planBatched(input: BatchedPlanInput): Plan {
  const timeLimits = timeLimitsOf(rulesFor(input.policies, input.ask.model).policy, input.ask);
  const target = targetAt(input);
  return 'code' in target
    ? { targets: [], attempts: 1, timeLimits, failure: target, unable: false }
    : { targets: [target], attempts: 1, timeLimits, failure: null, unable: false };
}

function targetAt({ file, family, catalogue, nowMs }: BatchedPlanInput): Target | Refusal {
  const { providerId, modelId } = file;
  const model = catalogue.models.get(modelId);
  const offer = model?.offers.find(
    (one) =>
      one.provider.id === providerId &&
      one.upstreamModel === file.upstreamModel &&
      batchOffer(one, family, nowMs),
  );
  if (!model || !offer?.price) {
    return refusal(
      'model_not_allowed',
      `Provider ${providerId}, which stores the file, does not offer model ${modelId} in batches any more; upload the file again.`,
    );
  }
  const address = offer.provider.families.get(file.family);
  const pool = keepersOf(offer.provider, file.credential, []);
  const [credential] = pool;
  if (address?.state !== 'ready' || !credential) {
    return refusal(
      'missing_upstream_base_url',
      `Provider ${providerId}, which stores the file, cannot be reached at the moment; the gateway's operator must configure it again.`,
    );
  }
  return {
    model,
    offer,
    family: file.family,
    address: address.url,
    credential,
    pool,
    price: offer.price,
    injectBudget: null,
  };
}
