import type { OfferFacts } from '#lib/core/facts/snapshot';
import { insertMember, replaceValue, setRootField } from '#lib/core/families/edits';
import type { Ask, Edit } from '#lib/core/families/family';
import { resourceName } from '#lib/core/families/generate-content/resource';

/** Where a body may name its model again. */
const modelPaths = ['model', 'generateContentRequest.model'];

/** The in-place changes that one target needs (contract: body/replaced, admission/budget-injection). */
export function contentEdits(ask: Ask, offer: OfferFacts, injectBudget: number | null): readonly Edit[] {
  const name = resourceName(offer);
  const edits = modelPaths.flatMap((path): readonly Edit[] => {
    const found = ask.scan.found.get(path);
    return found && found.value !== name ? [replaceValue(found, JSON.stringify(name))] : [];
  });
  return injectBudget === null ? edits : [...edits, budgetEdit(ask, String(injectBudget))];
}

/** The budget goes into the config that is there, in the spelling that the client uses. */
function budgetEdit({ scan }: Ask, tokens: string): Edit {
  const empty = scan.nulls.get('generationConfig.maxOutputTokens');
  if (empty) return replaceValue(empty, tokens);
  const config = scan.found.get('generationConfig');
  if (!config) return setRootField(scan, 'generationConfig', `{"maxOutputTokens":${tokens}}`);
  const snake = config.spelling === 'generation_config';
  return insertMember(config, snake ? 'max_output_tokens' : 'maxOutputTokens', tokens);
}
