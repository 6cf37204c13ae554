import type { Fault } from '#lib/core/families/reading/fault';
import { createReading, type Reading, sealedReading } from '#lib/core/metering/create-meter';
import { faultOf } from '#lib/gateway/flow/attempt/fault-of';
import { outgoing } from '#lib/gateway/flow/attempt/outgoing';
import { isRepeatable } from '#lib/gateway/flow/attempt/repeatable';
import { type SentCall, type TranslatedCall, translateCall } from '#lib/gateway/flow/attempt/translate-call';
import type { PlannedCall } from '#lib/gateway/flow/call/call';
import type { GoneWatch } from '#lib/gateway/flow/steps/client-gone';
import type { OfferFaults } from '#lib/gateway/metrics/offer-faults';
import type { Target } from '#lib/gateway/routing/pure/target';
import { limitsOfModel } from '#lib/gateway/routing/pure/time-limits';
import type { AttemptRecord } from '#lib/gateway/settlement/pure/entry';
import { type Answer, type AttemptDeps, openAttempt } from '#lib/gateway/upstream/attempt';
import { codingOf } from '#lib/gateway/upstream/decode';
import type { Exchange } from '#lib/gateway/upstream/exchange';
import { headerText } from '#lib/gateway/upstream/headers';

/** What attempts need, and where faults of offers are reported to the operator. */
export interface TryDeps extends AttemptDeps {
  readonly offerFaults: OfferFaults;
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
}

/**
 * Tries the targets in order until one gives an answer that the client should get (contract: routing/next-target);
 * each attempt goes into `call.outcome.attempts`. A target that the breaker has set aside since the plan was made waits
 * until the others were tried; one whose retry budget is used up is left out. When the chain is used up, the last
 * attempt that got an HTTP answer is the answer (contract: routing/chain-used-up, routing/not-after-first-byte). A
 * fault of this machine ends it: another target would meet the same (contract: call-log/machine-faults).
 */
export async function tryTargets(
  deps: TryDeps,
  call: PlannedCall,
  client: Pick<GoneWatch, 'underway'>,
): Promise<Tries> {
  const { targets, timeLimits } = call.plan;
  const { operation, ask, startMono } = call;
  const generates = operation.steps === 'generate';
  const repeatable = isRepeatable(call);
  let queue = targets;
  let made = 0;
  let failedMs = 0;
  let answer: GivenAnswer | null = null;
  let last: Tries['last'] = null;
  /** The target that is tried once more (contract: routing/pooled-connections). */
  let again: Target | null = null;
  for (let at = 0; at < queue.length && !call.outcome.gone; at += 1) {
    const target = queue[at];
    if (!target) break;
    const nowMs = deps.clock.now();
    const fresh = again === target;
    if (
      !fresh &&
      at < targets.length - 1 &&
      isAside(deps, target, nowMs) &&
      othersLeft(deps, targets, at, nowMs)
    ) {
      queue = [...queue, target];
      continue;
    }
    const translated = target.family === call.family.id ? null : await translateCall(call, target);
    // It stood behind others, so it is found out only now that it cannot be translated.
    if (translated !== null && 'message' in translated) continue;
    const sent: SentCall = translated?.sent ?? call;
    const running = deps.health.begin(target.offer.id, nowMs, (fresh ? made - 1 : made) > 1);
    if (!running) {
      translated?.abandon();
      continue;
    }
    if (!fresh) made += 1;
    const { exchange, beganMono, tried } = openAttempt(deps, {
      target,
      running,
      timeLimits: limitsOfModel(timeLimits, target.model),
      further: at < queue.length - 1,
      startMono,
      fresh,
      repeatable: !fresh && repeatable,
      generates,
      stream: ask.stream,
      outgoing: () => outgoing(sent, target),
      readingOf: (exchange) => readingOf(sent, exchange),
      faultOf: (status, body) => faultOf(sent, target, status, body),
    });
    last = { target, exchange };
    client.underway(exchange, target.offer.provider.onDisconnect);
    const { record, tookMs, verdict, passes, reading, unreported, fault, shortage } = await tried;
    call.outcome.attempts.push(
      translated === null ? record : { ...record, translatedTo: translated.to, lost: translated.lost },
    );
    if (!unreported) informOperator(deps, call.id, record, fault);
    if (record.error === 'client_gone') {
      translated?.abandon();
      giveUp(answer, 'the client left');
      return { answer: null, last, shortage: null };
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
    if (shortage !== null) return { answer, last, shortage };
    failedMs += tookMs;
    if (verdict === 'again') {
      again = target;
      at -= 1;
    }
  }
  return { answer, last, shortage: null };
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
  const { provider, model, status } = record;
  if (status === null) return;
  if (fault !== null) offerFaults.failed({ callId, provider, model, status, fault });
  else offerFaults.answered(provider, model);
}

function isAside({ health }: AttemptDeps, { offer }: Target, nowMs: number): boolean {
  return health.isAside(offer.id, nowMs);
}

/** Whether a later target is not set aside. */
function othersLeft(deps: AttemptDeps, targets: readonly Target[], at: number, nowMs: number): boolean {
  return targets.some((one, later) => later > at && !isAside(deps, one, nowMs));
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
