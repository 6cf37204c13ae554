import { type Refusal, refusal } from '#lib/core/errors';
import type { ModelFacts } from '#lib/core/facts/snapshot';
import type { FamilyId } from '#lib/core/families/ids';
import { clientPath } from '#lib/core/families/index';
import { spokenFamily } from '#lib/gateway/routing/pure/translate';

/**
 * A model in scope without an offer in this family: 400, and the message names the path that
 * works (contract: admission/family-offer). null when there is such an offer, or one that is
 * called by translation.
 */
export function checkFamily(
  model: ModelFacts | undefined,
  family: FamilyId,
  translates: boolean,
): Refusal | null {
  if (!model || model.offers.some((offer) => offer.families.has(family))) return null;
  if (translates && model.offers.some((offer) => spokenFamily(offer, family) !== null)) return null;
  const offered = new Set(model.offers.flatMap((offer) => [...offer.families]));
  const paths = [...offered].map(clientPath);
  const advice =
    paths.length > 0 ? `call it on ${paths.join(' or ')}` : 'choose another model from GET /v1/models';
  return refusal(
    'model_not_allowed',
    `Model ${model.id} is not offered on ${clientPath(family)}; ${advice}.`,
  );
}
