import type { OfferFacts } from '#lib/core/facts/snapshot';
import { replaceValue, setRootField } from '#lib/core/families/edits';
import type { Ask, Edit } from '#lib/core/families/family';

/** The in-place changes that one target needs (contract: body/replaced, admission/budget-injection). */
export function responsesEdits(
  { scan }: Ask,
  { upstreamModel }: Pick<OfferFacts, 'upstreamModel'>,
  injectBudget: number | null,
): readonly Edit[] {
  const edits: Edit[] = [];
  const named = scan.found.get('model');
  if (named && upstreamModel !== named.value) edits.push(replaceValue(named, JSON.stringify(upstreamModel)));
  if (injectBudget !== null) edits.push(setRootField(scan, 'max_output_tokens', String(injectBudget)));
  return edits;
}
