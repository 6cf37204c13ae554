import { type Refusal, refusal } from '#lib/errors';
import type { FamilyId, ModelFacts } from '#lib/snapshot/snapshot';

/** Where each family is called, for messages (contract: families/operations). */
const pathOf: Readonly<Record<FamilyId, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  images: '/v1/images/generations',
  videos: '/v1/videos',
  'generate-content': '/v1beta/models/{model}:generateContent',
};

/**
 * A model in scope that no offer speaks this family for: 400, and the message names the path that
 * works (contract: admission/family-offer). null when some offer speaks it.
 */
export function checkFamily(model: ModelFacts | undefined, family: FamilyId): Refusal | null {
  if (!model || model.offers.some((offer) => offer.families.has(family))) return null;
  const paths = [...new Set(model.offers.flatMap((offer) => [...offer.families]))].map((id) => pathOf[id]);
  const advice =
    paths.length > 0 ? `call it on ${paths.join(' or ')}` : 'choose another one of GET /v1/models';
  return refusal('model_not_allowed', `Model ${model.id} is not offered on ${pathOf[family]}; ${advice}.`);
}
