import type { OfferFacts } from '#lib/core/facts/snapshot';
import { insertMember, modelEdits, renameMember, replaceValue, setRootField } from '#lib/core/families/edits';
import type { Ask, Edit } from '#lib/core/families/family';
import type { Scan } from '#lib/core/families/scan';

type BudgetField = NonNullable<OfferFacts['outputBudgetField']>;

/**
 * Whether the provider must be asked to report usage in a stream that did not ask for it
 * (contract: body/include-usage).
 */
export function injectsUsage(ask: Ask, offer: OfferFacts): boolean {
  if (!ask.stream || offer.streamUsage === 'never') return false;
  return ask.scan.found.get('stream_options.include_usage')?.value !== true;
}

/** The in-place changes that one target needs (contract: body/replaced, admission/budget-name). */
export function chatEdits(ask: Ask, offer: OfferFacts, injectBudget: number | null): readonly Edit[] {
  const { scan } = ask;
  const edits = modelEdits(scan, offer.upstreamModel);
  if (injectsUsage(ask, offer)) edits.push(usageEdit(ask));
  const field = budgetField(offer);
  if (injectBudget !== null) edits.push(setRootField(scan, field, String(injectBudget)));
  else edits.push(...spelledFor(field, scan));
  return edits;
}

/** Asks for usage in a stream, in place. */
export function usageEdit({ scan }: Ask): Edit {
  const path = 'stream_options.include_usage';
  const standing = scan.found.get(path) ?? scan.nulls.get(path);
  if (standing) return replaceValue(standing, 'true');
  const options = scan.found.get('stream_options');
  return options
    ? insertMember(options, 'include_usage', 'true')
    : setRootField(scan, 'stream_options', '{"include_usage":true}');
}

/**
 * A budget in the spelling that the offer does not read gets the name that it reads
 * (contract: admission/budget-name): else the provider would ignore it. If the other name is present with a null, the
 * two names are swapped, so that neither occurs twice.
 */
function spelledFor(field: BudgetField, scan: Scan): readonly Edit[] {
  const other = field === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  const budget = scan.found.get(other);
  if (!budget || scan.found.has(field)) return [];
  const empty = scan.nulls.get(field);
  return [renameMember(scan, budget, field), ...(empty ? [renameMember(scan, empty, other)] : [])];
}

/** Providers that reject the older name of the budget; `azure-openai` is the one that operators add. */
const namesCompletionTokens: ReadonlySet<string> = new Set(['openai', 'azure', 'azure-openai']);

/** The catalogue's setting; without one, the providers that reject the older name get the newer one. */
function budgetField({ outputBudgetField, provider }: OfferFacts): BudgetField {
  if (outputBudgetField !== null) return outputBudgetField;
  return namesCompletionTokens.has(provider.id) ? 'max_completion_tokens' : 'max_tokens';
}
