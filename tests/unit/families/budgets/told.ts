import { isRefusal } from '#lib/core/errors';
import { applyEdits } from '#lib/core/families/edits';
import { budgetToInject } from '#lib/core/families/family';
import { familyOf } from '#lib/core/families/index';
import { match } from '#lib/core/families/match';
import { scan } from '#lib/core/families/scan';
import { checkBudget } from '#lib/gateway/admission/pure/decide';
import { snapshotOf } from '#tests/support/admission';
import { makeModel, makeOffer } from '#tests/unit/families/make';

/** What the models of these tests make at most, tokens. */
export const modelMaximum = 65_536;

/**
 * The body that one provider is told for a request, as the gateway's steps make it: read, checked against the key's
 * maximum, edited for the offer.
 * @param maximum of the key, output tokens; null: none.
 * @returns the code of the refusal where there is one.
 */
export function toldBody(
  target: string,
  body: string,
  maximum: number | null,
  outputBudgetField: 'max_tokens' | 'max_completion_tokens' | null = null,
): string {
  const matched = match('POST', target);
  if (isRefusal(matched)) throw new Error(matched.message);
  const { operation, params } = matched;
  const family = familyOf(operation.family);
  const scanned = scan(Buffer.from(body), operation.fields ?? {});
  if ('fault' in scanned) return 'invalid_body';
  const ask = family?.readAsk({ operation, params, scan: scanned });
  if (!family || !ask) throw new Error(`${target} is no operation of a family`);
  if (isRefusal(ask)) return ask.code;
  const { key } = snapshotOf({});
  const refused = checkBudget(ask, { ...key, maxOutputTokens: maximum });
  if (refused) return refused.code;
  const offer = makeOffer({ upstreamModel: 'echo', outputBudgetField });
  const injected = budgetToInject(ask, maximum, makeModel({ maxOutputTokens: modelMaximum }));
  return Buffer.from(applyEdits(ask.scan.body, family.edits(ask, offer, injected))).toString();
}
