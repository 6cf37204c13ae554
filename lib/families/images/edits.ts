import { replaceValue } from '#lib/families/edits';
import type { Ask, Edit } from '#lib/families/family';
import type { OfferFacts } from '#lib/snapshot/snapshot';

/** Only the model's name may differ: this family has no budget, and its streams always report their usage. */
export function imagesEdits({ scan }: Ask, { upstreamModel }: OfferFacts): readonly Edit[] {
  const found = scan.found.get('model');
  return found && upstreamModel !== found.value ? [replaceValue(found, JSON.stringify(upstreamModel))] : [];
}
