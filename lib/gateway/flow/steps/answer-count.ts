import { isTextProtocol, type TextProtocol } from '#lib/core/translation/conversation';
import { estimateTokens } from '#lib/core/translation/estimate-tokens';
import { type AskedCall, allowsTranslation } from '#lib/gateway/flow/call/call';
import type { SendLastByte } from '#lib/gateway/flow/relay/parts';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { answerWith } from '#lib/gateway/flow/steps/answer-here';
import { callableFamilies } from '#lib/gateway/routing/pure/exclude';
import { isEstimable, makerOf } from '#lib/gateway/routing/pure/translate';

/**
 * Whether the gateway itself counts the tokens: no offer that speaks the client's protocol can be called, but another
 * one can (contract: translation/counting).
 */
export function isEstimated(runtime: Runtime, call: AskedCall): boolean {
  const { ask, family, pinned } = call;
  if (!isEstimable(ask, family.id, pinned) || !allowsTranslation(call, ask.model)) return false;
  const model = runtime.catalogue().models.get(ask.model);
  if (!model) return false;
  const nowMs = runtime.clock.now();
  const counting = model.offers.filter(({ unserved }) => !unserved.has(ask.operation.name));
  const { ownKeys } = call.snapshot;
  const native = callableFamilies({ ...model, offers: counting }, false, nowMs, ownKeys);
  return !native.has(family.id) && callableFamilies(model, true, nowMs, ownKeys).has(family.id);
}

/** Answers a count with an estimate, in the client's own form. */
export function answerCount(call: AskedCall): SendLastByte {
  const { ask, family } = call;
  if (!isTextProtocol(family.id)) throw new Error(`tokens of ${family.id} are not counted`);
  const tokens = estimateTokens(family.id, ask.scan.body, ask.weight, makerOf(ask.model));
  return answerWith(call, countIn(family.id, tokens), ['x-token-count', 'estimated']);
}

function countIn(protocol: TextProtocol, tokens: number): object {
  if (protocol === 'generate-content') return { totalTokens: tokens };
  const count = { input_tokens: tokens };
  return protocol === 'responses' ? { object: 'response.input_tokens', ...count } : count;
}
