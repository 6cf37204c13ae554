import type { OfferFacts } from '#lib/core/facts/snapshot';
import { replaceValue } from '#lib/core/families/edits';
import type { Ask, Edit } from '#lib/core/families/family';

/** Only the model's name may differ: this family has no budget, and its streams always report their usage. */
export function imagesEdits({ scan }: Ask, { upstreamModel }: OfferFacts): readonly Edit[] {
  const found = scan.found.get('model');
  return found && upstreamModel !== found.value ? [replaceValue(found, JSON.stringify(upstreamModel))] : [];
}
