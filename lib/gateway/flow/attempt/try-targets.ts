import type { CredentialLimits } from '#lib/core/facts/credential';
import type { Fault } from '#lib/core/families/reading/fault';
import { createReading, type Reading, sealedReading } from '#lib/core/metering/create-meter';
import type { Access } from '#lib/gateway/clouds/access';
import { faultOf } from '#lib/gateway/flow/attempt/fault-of';
import { readyAttempt } from '#lib/gateway/flow/attempt/ready-attempt';
import { isRepeatable } from '#lib/gateway/flow/attempt/repeatable';
import { type SentCall, type TranslatedCall, translateCall } from '#lib/gateway/flow/attempt/translate-call';
import type { PlannedCall } from '#lib/gateway/flow/call/call';
import type { Outcome } from '#lib/gateway/flow/call/outcome';
import type { GoneWatch } from '#lib/gateway/flow/steps/client-gone';
import type { CredentialCounts } from '#lib/gateway/limits/credential-limits';
import type { OfferFaults } from '#lib/gateway/metrics/offer-faults';
import type { AttemptReport, CredentialFault } from '#lib/gateway/routing/health';
import { aimAt } from '#lib/gateway/routing/pure/pool';
import type { Target } from '#lib/gateway/routing/pure/target';
import { limitsOfModel } from '#lib/gateway/routing/pure/time-limits';
import type { AttemptRecord } from '#lib/gateway/settlement/pure/entry';
import { type Answer, type AttemptDeps, openAttempt } from '#lib/gateway/upstream/attempt';
import { codingOf } from '#lib/gateway/upstream/decode';
import type { Exchange } from '#lib/gateway/upstream/exchange';
import { headerText } from '#lib/gateway/upstream/headers';
import { isUnreachable } from '#lib/gateway/upstream/pure/classify';

/** What attempts need, and where faults of offers are reported to the operator. */
export interface TryDeps extends AttemptDeps {
  readonly offerFaults: OfferFaults;
  readonly access: Access;
  readonly credentialCounts: CredentialCounts;
}

/** The answer that goes to the client, and how it was asked for. */
export interface GivenAnswer extends Answer {
  /** null: in the client's own protocol. */
  readonly translated: TranslatedCall | null;
}

export interface Tries {
  /** null: no attempt got an HTTP answer. */
  readonly answer: GivenAnswer | null;
  /** The newest attempt; null: none was made. */
  readonly last: { readonly target: Target; readonly exchange: Exchange } | null;
  /** Why the newest attempt failed, if that is a fault of this machine; null: it is not. */
  readonly shortage: Error | null;
  /** The shortest wait for a credential that was not used because of its own limits, ms; null: there was none. */
  readonly limitedMs: number | null;
}

/** An attempt that may be made. */
interface Step {
  readonly target: Target;
  /** A target of the plan, which waits if it was set aside since, and whose credential is chosen when it is tried. */
  readonly planned: boolean;
  /** As one of the attempts of the call, and as a fallback; if not, it follows one that does. */
  readonly counts: boolean;
  /** The same request once more on a fresh connection (contract: routing/pooled-connections). */
  readonly fresh: boolean;
  /** Signed once more, with the right time; absent: it is the first time. */
  readonly signedAgain?: true;
}

/**
 * Tries the targets in order until one gives an answer that the client should get (contract: routing/next-target);
 * each attempt goes into `call.outcome.attempts`. A target that the breaker has set aside since the plan was made waits
 * until the others were tried; one whose retry budget is used up is left out. After a failure, another credential of
 * the same provider comes before the next target (contract: routing/next-credential). When the chain is used up, the
 * last attempt that got an HTTP answer is the answer (contract: routing/chain-used-up, routing/not-after-first-byte). A
 * fault of this machine ends it: another target would meet the same (contract: call-log/machine-faults).
 */
export async function tryTargets(
  deps: TryDeps,
  call: PlannedCall,
  client: Pick<GoneWatch, 'underway'>,
): Promise<Tries> {
  const { targets, attempts, timeLimits } = call.plan;
  const { operation, ask, startMono } = call;
  const generates = operation.steps === 'generate';
  const repeatable = isRepeatable(call);
  const queue: Step[] = targets.map((target) => ({ target, planned: true, counts: true, fresh: false }));
  const chain = new Chain(attempts);
  let failedMs = 0;
  let answer: GivenAnswer | null = null;
  let last: Tries['last'] = null;
  let limitedMs: number | null = null;
  for (let at = 0; at < queue.length && !call.outcome.gone; at += 1) {
    const step = queue[at];
    if (!step || (step.counts && chain.isUsedUp)) continue;
    const nowMs = deps.clock.now();
    if (step.planned && isAside(deps, step.target, nowMs) && othersLeft(deps, queue, at, nowMs)) {
      queue.push({ ...step, planned: false });
      continue;
    }
    const stays = step.fresh || step.signedAgain === true;
    const planned = stays ? step.target : aimed(deps, step.target, nowMs);
    const translated = planned.family === call.family.id ? null : await translateCall(call, planned);
    // It stood behind others, so it is found out only now that it cannot be translated.
    if (translated !== null && 'message' in translated) continue;
    const { limits } = planned.credential;
    if (!stays) endUse(call.outcome);
    const waitMs = stays || limits === undefined ? null : await count(deps, call, planned, limits);
    if (waitMs !== null) {
      translated?.abandon();
      limitedMs = Math.min(limitedMs ?? waitMs, waitMs);
      const rest = planned.pool.filter(({ name }) => name !== planned.credential.name);
      if (rest.length === 0) continue;
      const next = { ...step, target: aimed(deps, { ...planned, pool: rest }, nowMs), planned: false };
      if (isAside(deps, next.target, nowMs)) queue.push(next);
      else queue.splice(at + 1, 0, next);
      continue;
    }
    const sent: SentCall = translated?.sent ?? call;
    const running = deps.health.begin(planned, nowMs, chain.isFurther(step));
    if (!running) {
      translated?.abandon();
      if (!stays) call.outcome.credentialUse?.undo();
      continue;
    }
    if (step.counts) chain.made += 1;
    const made = readyAttempt(deps.access, sent, planned);
    const ready = made instanceof Promise ? await orOver(made, running) : made;
    const { target, outgoing, unsent, refused } = ready;
    const { exchange, beganMono, tried } = openAttempt(deps, {
      target,
      running,
      timeLimits: limitsOfModel(timeLimits, target.model),
      further: at < queue.length - 1 || target.pool.length > 1,
      startMono,
      fresh: step.fresh,
      repeatable: !step.fresh && repeatable,
      generates,
      stream: ask.stream,
      outgoing,
      unsent,
      readingOf: (exchange) => readingOf(sent, exchange),
      faultOf: (status, body) => faultOf(sent, target, status, body),
    });
    last = { target, exchange };
    client.underway(exchange, target.offer.provider.onDisconnect);
    const { record, tookMs, verdict, passes, reading, unreported, fault, credentialFault, shortage } =
      await tried;
    call.outcome.attempts.push(
      translated === null ? record : { ...record, translatedTo: translated.to, lost: translated.lost },
    );
    // An own key is its workspace's: its faults are in the call log.
    if (!unreported && !target.credential.own) informOperator(deps, call.id, record, fault);
    if (record.error === 'client_gone') {
      translated?.abandon();
      giveUp(answer, 'the client left');
      return { answer: null, last, shortage: null, limitedMs };
    }
    if (passes) {
      giveUp(answer, 'another attempt answered');
      const place = call.outcome.attempts.length - 1;
      answer = {
        target,
        exchange,
        reading,
        running: unreported ? running : null,
        place,
        beganMono,
        failedMs,
        fault,
        translated,
      };
      if (verdict === 'answer') break;
    } else {
      translated?.abandon();
      exchange.abort(new Error('the attempt failed'));
    }
    if (shortage !== null) return { answer, last, shortage, limitedMs };
    failedMs += tookMs;
    if (verdict === 'again') {
      queue.splice(at + 1, 0, { target: planned, planned: false, counts: false, fresh: true });
      continue;
    }
    const denied = credentialFault === 'refused' || credentialFault === 'forbidden';
    if (denied && refused(headerText(exchange.headers, 'date')) && step.signedAgain !== true) {
      queue.splice(at + 1, 0, { ...step, target: planned, planned: false, counts: false, signedAgain: true });
      continue;
    }
    const rest = target.pool.filter(({ name }) => name !== target.credential.name);
    const goesOn = chain.goesOn({
      target,
      error: record.error,
      credentialFault,
      others: queue.length - at - 1,
    });
    if (rest.length === 0 || !goesOn) continue;
    const next = aimed(deps, { ...target, pool: rest }, deps.clock.now());
    const free = { target: next, planned: false, counts: credentialFault === null, fresh: false };
    // One that is set aside would most likely fail: other providers come first.
    if (isAside(deps, next, deps.clock.now())) queue.push(free);
    else queue.splice(at + 1, 0, free);
  }
  return { answer, last, shortage: null, limitedMs };
}

/** The attempt before has failed, and used nothing. */
function endUse(outcome: Outcome): void {
  outcome.credentialUse?.end(0);
  outcome.credentialUse = null;
}

/**
 * Counts an attempt against the limits of its credential (contract: limits/credentials).
 * @returns null: it may be made; else how long the credential is at its limit, ms. It is set aside until then.
 */
async function count(
  { credentialCounts, health, clock }: TryDeps,
  { outcome, operation, claim }: PlannedCall,
  { offer, credential }: Target,
  limits: CredentialLimits,
): Promise<number | null> {
  const tokens = operation.steps === 'generate' ? (claim?.tokens ?? 0) : null;
  const taken = await credentialCounts.take(limits, tokens);
  if ('waitMs' in taken) {
    health.atLimit({ offer, credential }, clock.now() + taken.waitMs);
    return taken.waitMs;
  }
  outcome.credentialUse = taken;
  return null;
}

/** What the attempts of a call have used up. */
class Chain {
  /** Attempts that count. */
  made = 0;
  readonly #most: number;
  /** Offers at which another credential was tried after a failure that was not the credential's. */
  readonly #repeated = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  get isUsedUp(): boolean {
    return this.made >= this.#most;
  }

  /** Whether an attempt is a fallback after the first one (contract: routing/further-fallbacks). */
  isFurther({ counts, fresh }: Step): boolean {
    return counts ? this.made > 1 : fresh && this.made > 2;
  }

  /**
   * Whether another credential of the provider is tried next. After a failure that is not the credential's it is one
   * more, and only if that leaves an attempt for the targets after it.
   * @param failed `others`: steps that are left.
   */
  goesOn(failed: {
    readonly target: Target;
    readonly error: string | null;
    readonly credentialFault: CredentialFault | null;
    readonly others: number;
  }): boolean {
    if (failed.credentialFault !== null) return true;
    if (isUnreachable(failed.error) || this.isUsedUp) return false;
    if (failed.others === 0) return true;
    const { id } = failed.target.offer;
    if (this.#repeated.has(id) || this.#most - this.made < 2) return false;
    this.#repeated.add(id);
    return true;
  }
}

/** An attempt that cannot even be made is over for its offer. */
async function orOver<Made>(made: Promise<Made>, running: AttemptReport): Promise<Made> {
  try {
    return await made;
  } catch (error) {
    running.over();
    throw error;
  }
}

/** A target with the first credential that is not set aside, else the first of all. */
function aimed(deps: AttemptDeps, target: Target, nowMs: number): Target {
  const { offer, pool } = target;
  const credential =
    pool.find((one) => !deps.health.isAside({ offer, credential: one }, nowMs)) ??
    pool[0] ??
    target.credential;
  return aimAt(target, credential);
}

function giveUp(answer: GivenAnswer | null, why: string): void {
  answer?.exchange.abort(new Error(why));
  answer?.translated?.abandon();
}

/** Tells the operator of an error that is not the client's (contract: routing/faults-shown). */
function informOperator(
  { offerFaults }: TryDeps,
  callId: string,
  record: AttemptRecord,
  fault: Fault | null,
): void {
  const { provider, model, credential, status } = record;
  if (status === null) return;
  if (fault !== null) offerFaults.failed({ callId, provider, model, credential, status, fault });
  else offerFaults.answered({ provider, model, credential });
}

/** Whether all credentials of a target are set aside. */
function isAside({ health }: AttemptDeps, { offer, pool }: Target, nowMs: number): boolean {
  return pool.every((credential) => health.isAside({ offer, credential }, nowMs));
}

/** Whether a later target of the plan is not set aside. */
function othersLeft(deps: AttemptDeps, queue: readonly Step[], at: number, nowMs: number): boolean {
  return queue.some(({ planned, target }, later) => later > at && planned && !isAside(deps, target, nowMs));
}

/**
 * How the answer of an attempt is read, once its headers are here; null: it is not read, because it is not a 2xx, or a
 * file. A coding that cannot be undone here leaves only its bytes to count.
 */
function readingOf({ family, ask, operation }: SentCall, { status, headers }: Exchange): Reading | null {
  if (status < 200 || status >= 300 || operation.download) return null;
  if (codingOf(headers) !== '') return sealedReading(family, ask);
  return createReading(family, ask, { contentType: headerText(headers, 'content-type') });
}
