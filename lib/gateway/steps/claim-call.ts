import type { ClaimRequest, LimitNumbers } from '#lib/admission/claim';
import { estimate } from '#lib/admission/estimate';
import { isRefusal, Refused, refusal } from '#lib/errors';
import type { Call } from '#lib/gateway/call';
import type { HeaderList } from '#lib/gateway/lane';
import type { Runtime } from '#lib/gateway/runtime';

/** Steps 11 to 15 of decisions §3: one all-or-nothing claim; a plan that failed is answered after it. */
export async function claimCall(runtime: Runtime, call: Call): Promise<void> {
  const { snapshot, operation, plan, coordinator } = { ...call, coordinator: runtime.coordinator };
  if (!snapshot || !operation) return;
  if (!coordinator || !runtime.journal) {
    throw new Refused(
      refusal(
        'local_quota_not_configured',
        'This gateway process cannot account for calls now; retry, and tell its operator if it stays so.',
      ),
    );
  }
  const claimed = coordinator.claim(requestOf(call));
  const claim = claimed instanceof Promise ? await claimed : claimed;
  if (isRefusal(claim)) throw new Refused(claim);
  call.claim = claim;
  call.holdNano = claim.holdNano;
  Object.assign(call.headers, limitHeaders(claim.numbers));
  if (plan?.failure) throw new Refused(plan.failure);
}

function requestOf(call: Call): ClaimRequest {
  const { snapshot, operation, ask, plan } = call;
  if (!snapshot || !operation) throw new Error('a call is claimed after it is authenticated');
  const base = { callId: call.id, atMs: call.startMs, snapshot };
  if (operation.steps === 'models') return { ...base, need: 'models', holdNano: 0n, tokens: 0 };
  if (operation.steps !== 'generate' || !ask || !plan)
    return { ...base, need: 'rate', holdNano: 0n, tokens: 0 };
  const { holdNano, tokens } = estimate(
    ask,
    plan.targets,
    snapshot.key.maxOutputTokens,
    snapshot.workspace.strict,
    call.previousTokens,
  );
  return { ...base, need: 'generate', holdNano, tokens, ...(ask.job ? { durable: true } : {}) };
}

/** `x-ratelimit-*` of the tighter of key and workspace; a kind without a limit sends none (decisions §8). */
function limitHeaders(numbers: LimitNumbers): HeaderList {
  const headers: HeaderList = {};
  if (numbers.requests) {
    headers['x-ratelimit-limit-requests'] = String(numbers.requests.limit);
    headers['x-ratelimit-remaining-requests'] = String(numbers.requests.remaining);
  }
  if (numbers.tokens) {
    headers['x-ratelimit-limit-tokens'] = String(numbers.tokens.limit);
    headers['x-ratelimit-remaining-tokens'] = String(numbers.tokens.remaining);
  }
  return headers;
}
