import { estimateWorkedTokens } from '#lib/core/metering/estimate-output';
import type { AnsweredCall } from '#lib/gateway/flow/call/call';
import type { AnswerSeen } from '#lib/gateway/flow/call/charge-call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import type { Exchange } from '#lib/gateway/upstream/exchange';

/**
 * Describes an answer whose connection the gateway closed before its end. A model with hidden reasoning is assumed to
 * have produced output for as long as the provider worked, at the speed observed on its offer, up to the output
 * budget or the model's maximum, times `n` (contract: money/hidden-reasoning).
 * @param exchange null: no attempt was under way.
 */
export function closedEarly(runtime: Runtime, call: AnsweredCall, exchange: Exchange | null): AnswerSeen {
  const { target, ask } = call;
  const sentWhole = exchange?.sentWhole ?? false;
  if (!target.model.reasoning || !exchange) return { end: 'closed', sentWhole, workedTokens: 0 };
  const { maxOutputTokens } = target.model;
  const budget = (ask.budgetIsNested ? null : ask.budget) ?? target.injectBudget ?? maxOutputTokens;
  const most = maxOutputTokens > 0 ? Math.min(budget, maxOutputTokens) : budget;
  const workedTokens = estimateWorkedTokens({
    workedMs: exchange.workedMs,
    tokensPerSecond: runtime.health.of(target.offer.id).tokensPerSecond.value,
    mostTokens: most * ask.choices,
  });
  return { end: 'closed', sentWhole, workedTokens };
}
