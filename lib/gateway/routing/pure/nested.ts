import { type Refusal, refusal } from '#lib/core/errors';
import { isRetired } from '#lib/core/facts/retired';
import type { Catalogue, KeySnapshot } from '#lib/core/facts/snapshot';
import type { Ask, NestedModel } from '#lib/core/families/family';
import type { FamilyId } from '#lib/core/families/ids';
import { checkModel } from '#lib/gateway/admission/pure/decide';
import type { NestedOffer } from '#lib/gateway/routing/pure/target';

interface Asked {
  readonly family: FamilyId;
  readonly snapshot: KeySnapshot;
  readonly catalogue: Catalogue;
  readonly nowMs: number;
}

/**
 * Nested model names against catalogue and scope (contract: admission/nested-models): each is a slug that the key
 * allows and that some provider of the request's own model in this family offers too. Pure.
 * @returns 400 `model_not_allowed`, or null.
 */
export function checkNested(ask: Ask, { family, snapshot, catalogue, nowMs }: Asked): Refusal | null {
  const { nested } = ask;
  if (!nested) return null;
  for (const { slug } of nested) {
    const refused = checkModel(slug, snapshot, catalogue);
    if (refused) return refused;
  }
  const offers = catalogue.models.get(ask.model)?.offers ?? [];
  const together = offers.some(
    (offer) => offer.families.has(family) && nestedAt(nested, offer.provider.id, catalogue, nowMs),
  );
  return together ? null : noProviderOfAll(ask);
}

/** What one provider offers these models as, by slug; null when it lacks one or has no price for it. */
export function nestedAt(
  nested: readonly NestedModel[],
  providerId: string,
  catalogue: Catalogue,
  nowMs: number,
): ReadonlyMap<string, NestedOffer> | null {
  const found = new Map<string, NestedOffer>();
  for (const { slug } of nested) {
    const offer = catalogue.models
      .get(slug)
      ?.offers.find((one) => one.provider.id === providerId && one.price !== null && !isRetired(one, nowMs));
    if (!offer?.price) return null;
    found.set(slug, { upstreamModel: offer.upstreamModel, price: offer.price });
  }
  return found;
}

/** 400: no provider that the call could go to has all of its models. */
export function noProviderOfAll(ask: Ask): Refusal {
  const named = [...new Set(ask.nested?.map(({ slug }) => slug))].join(', ');
  return refusal(
    'model_not_allowed',
    `No provider that offers ${ask.model} here also offers ${named}, which the request names inside its body; name a model that it does offer.`,
  );
}
