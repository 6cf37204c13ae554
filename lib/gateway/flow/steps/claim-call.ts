import { isRefusal, type Refusal, Refused, unaccountable } from '#lib/core/errors';
import { boundTags } from '#lib/core/facts/tags';
import { simulatedProvider } from '#lib/core/simulated';
import type { Claim, ClaimRequest } from '#lib/gateway/admission/claim';
import type { Coordinator } from '#lib/gateway/admission/coordinator';
import { estimate } from '#lib/gateway/admission/pure/estimate';
import {
  type AuthenticatedCall,
  type ClaimedCall,
  extendCall,
  type PlannedCall,
} from '#lib/gateway/flow/call/call';
import { holdTermsOf } from '#lib/gateway/flow/call/hold-terms';
import { recordOf } from '#lib/gateway/flow/call/record';
import type { HeaderList } from '#lib/gateway/flow/lane';
import type { Runtime } from '#lib/gateway/flow/runtime';
import type { LimitNumbers } from '#lib/gateway/limits/pure/limits';
import { aimAt } from '#lib/gateway/routing/pure/pool';
import type { Target } from '#lib/gateway/routing/pure/target';
import { bytesOf } from '#lib/gateway/settlement/record/read';

/**
 * Steps 11 to 15 of admission: one all-or-nothing claim (contract: admission/claim); a plan that failed is answered
 * after it.
 * @returns a promise only when memory cannot decide.
 */
export function claimCall(runtime: Runtime, call: PlannedCall): ClaimedCall | Promise<ClaimedCall> {
  const claimed = claim(
    runtime,
    call.operation.steps === 'generate' ? fundsFor(call) : rateFor(call, 'rate'),
  );
  // Without a promise the answer came from a lease, or is not about funds.
  if (!(claimed instanceof Promise)) return admit(call, claimed);
  return claimed.then(async (first) => {
    let late = first;
    for (const narrow of [leaveOperators, leaveReal]) {
      if (!isRefusal(late) || late.code !== 'insufficient_balance') break;
      if (narrow(call)) late = await claim(runtime, fundsFor(call));
    }
    return admit(call, late);
  });
}

/**
 * Takes the operator's credentials out of a plan that has own keys too: those may be paid for by the fee alone
 * (contract: own-keys/hold). @returns whether there were both.
 */
function leaveOperators(call: PlannedCall): boolean {
  const { plan } = call;
  if (plan.targets.every(({ pool }) => pool.every(({ own }) => own))) return false;
  const targets = plan.targets.flatMap((target) => {
    const pool = target.pool.filter(({ own }) => own);
    const [credential] = pool;
    return credential ? [aimAt(target, credential, pool)] : [];
  });
  if (targets.length === 0) return false;
  extendCall(call, { plan: { ...plan, targets } });
  return true;
}

/**
 * Takes the real targets out of a plan that has simulated ones too: those may be paid with simulated money
 * (contract: money/simulated-money). @returns whether there were both.
 */
function leaveReal(call: PlannedCall): boolean {
  const targets = call.plan.targets.filter(isSimulated);
  if (targets.length === 0 || targets.length === call.plan.targets.length) return false;
  extendCall(call, { plan: { ...call.plan, targets } });
  return true;
}

function isSimulated({ offer }: Target): boolean {
  return offer.provider.id === simulatedProvider;
}

/** Claims what a call takes that the gateway answers itself: no plan, and nothing to pay. */
export async function claimRate(
  runtime: Runtime,
  call: AuthenticatedCall,
  need: 'rate' | 'models',
): Promise<void> {
  takeClaim(call, await claim(runtime, rateFor(call, need)));
}

function claim({ coordinator, journal }: Runtime, request: ClaimRequest): ReturnType<Coordinator['claim']> {
  if (!coordinator || !journal) throw new Refused(unaccountable('cannot account for calls right now'));
  return coordinator.claim(request);
}

function admit(call: PlannedCall, claimed: Claim | Refusal): ClaimedCall {
  const admitted = takeClaim(call, claimed);
  if (call.plan.failure) throw new Refused(call.plan.failure);
  return admitted;
}

function takeClaim<Stage extends AuthenticatedCall>(call: Stage, claimed: Claim | Refusal) {
  if (isRefusal(claimed)) throw new Refused(claimed);
  call.outcome.holdNano = claimed.holdNano;
  addLimits(call.headers, claimed.numbers);
  return extendCall(call, { claim: claimed });
}

function rateFor(call: AuthenticatedCall, need: 'rate' | 'models'): ClaimRequest {
  const { id, startMs, snapshot, placed } = call;
  return { callId: id, atMs: startMs, snapshot, need, holdNano: 0n, tokens: 0, placed, ...budgetsOf(call) };
}

/** What binds a call besides its key and its workspace (contract: tags/budgets). */
function budgetsOf({ snapshot, tags }: AuthenticatedCall): Pick<ClaimRequest, 'tags'> {
  const { tagRules, workspace } = snapshot;
  if (!tagRules || tags.length === 0) return {};
  const bound = boundTags(workspace.id, tags, tagRules);
  return bound.length === 0 ? {} : { tags: bound };
}

function fundsFor(call: PlannedCall): ClaimRequest {
  const { id, startMs, snapshot, ask, plan, placed, arrival } = call;
  const { holdNano, tokens } = estimate(ask, plan.targets, holdTermsOf(call));
  const durable = ask.job !== undefined;
  const simulated = plan.targets.every(isSimulated);
  const open = () =>
    bytesOf({
      kind: 'open',
      callId: id,
      atMs: startMs,
      holdNano,
      tokens,
      funding: 'row',
      call: { ...recordOf(call, call.startMono), holdNano },
    });
  return {
    callId: id,
    atMs: startMs,
    snapshot,
    need: 'generate',
    holdNano,
    tokens,
    durable,
    simulated,
    placed,
    inSession: arrival.inSession === true,
    begun: arrival.begun === true,
    open,
    ...budgetsOf(call),
  };
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
