import type { OfferFacts } from '#lib/core/facts/snapshot';
import { replaceValue, setRootField } from '#lib/core/families/edits';
import type { Ask, Edit } from '#lib/core/families/family';

/** The in-place changes that one target needs (contract: body/replaced, admission/budget-injection). */
export function messagesEdits(
  ask: Ask,
  offer: Pick<OfferFacts, 'upstreamModel'>,
  injectBudget: number | null,
): readonly Edit[] {
  const { scan } = ask;
  const edits: Edit[] = [];
  const model = scan.found.get('model');
  if (model && offer.upstreamModel !== model.value) {
    edits.push(replaceValue(model, JSON.stringify(offer.upstreamModel)));
  }
  if (injectBudget !== null) edits.push(setRootField(scan, 'max_tokens', String(injectBudget)));
  return edits;
}
