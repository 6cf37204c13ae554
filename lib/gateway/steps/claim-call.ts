import type { Claim, ClaimRequest, LimitNumbers } from '#lib/admission/claim';
import { estimate } from '#lib/admission/estimate';
import { isRefusal, type Refusal, Refused, unaccountable } from '#lib/errors';
import type { Call } from '#lib/gateway/call';
import type { HeaderList } from '#lib/gateway/lane';
import type { Runtime } from '#lib/gateway/runtime';

/**
 * Steps 11 to 15 of admission: one all-or-nothing claim (contract: admission/claim); a plan that failed is answered
 * after it.
 * @returns what to wait for; undefined when memory could decide.
 */
export function claimCall(runtime: Runtime, call: Call): Promise<void> | undefined {
  const { coordinator } = runtime;
  if (!call.snapshot || !call.operation) return undefined;
  if (!coordinator || !runtime.journal) {
    throw new Refused(unaccountable('cannot account for calls now'));
  }
  const claimed = coordinator.claim(requestOf(call));
  if (claimed instanceof Promise) return claimed.then((late) => takeClaim(call, late));
  takeClaim(call, claimed);
  return undefined;
}

function takeClaim(call: Call, claim: Claim | Refusal): void {
  if (isRefusal(claim)) throw new Refused(claim);
  call.claim = claim;
  call.holdNano = claim.holdNano;
  addLimits(call.headers, claim.numbers);
  if (call.plan?.failure) throw new Refused(call.plan.failure);
}

function requestOf(call: Call): ClaimRequest {
  const { snapshot, operation, ask, plan, placed } = call;
  if (!snapshot || !operation) throw new Error('a call is claimed after it is authenticated');
  const [callId, atMs] = [call.id, call.startMs];
  if (operation.steps !== 'generate' || !ask || !plan) {
    const need = operation.steps === 'models' ? 'models' : 'rate';
    return { callId, atMs, snapshot, need, holdNano: 0n, tokens: 0, placed };
  }
  const { holdNano, tokens } = estimate(
    ask,
    plan.targets,
    snapshot.key.maxOutputTokens,
    snapshot.workspace.strict,
    call.previousTokens,
  );
  const durable = ask.job !== undefined;
  return { callId, atMs, snapshot, need: 'generate', holdNano, tokens, durable, placed };
}

/**
 * `x-ratelimit-*` of the tighter of key and workspace; a kind without a limit sends none (contract: limits/headers).
 */
function addLimits(headers: HeaderList, { requests, tokens }: LimitNumbers): void {
  if (requests) {
    headers.push('x-ratelimit-limit-requests', String(requests.limit));
    headers.push('x-ratelimit-remaining-requests', String(requests.remaining));
  }
  if (tokens) {
    headers.push('x-ratelimit-limit-tokens', String(tokens.limit));
    headers.push('x-ratelimit-remaining-tokens', String(tokens.remaining));
  }
}
