import type { Readable } from 'node:stream';
import type { Fault } from '#lib/core/families/reading/fault';
import type { Reading } from '#lib/core/metering/create-meter';
import type { AttemptFailure, AttemptReport, CredentialFault, Health } from '#lib/gateway/routing/health';
import type { Target } from '#lib/gateway/routing/pure/target';
import type { AttemptLimits } from '#lib/gateway/routing/pure/time-limits';
import type { AttemptRecord } from '#lib/gateway/settlement/pure/entry';
import { codingOf } from '#lib/gateway/upstream/decode';
import { parsedBody } from '#lib/gateway/upstream/error-body';
import { Exchange, type ExchangeObserver, type ExchangeOptions } from '#lib/gateway/upstream/exchange';
import { UnreadableAnswer, UnusableAnswer } from '#lib/gateway/upstream/exchange-faults';
import { providerRequestId, retryAfterMs } from '#lib/gateway/upstream/headers';
import { opensLikeAnswer } from '#lib/gateway/upstream/opening';
import type { Pools } from '#lib/gateway/upstream/pools';
import { credentialFaultOf, failureName, isDecided } from '#lib/gateway/upstream/pure/classify';
import { shortageIn } from '#lib/gateway/upstream/shortage';
import type { Clock } from '#lib/platform/clock';

/** What is sent to one target: made for each target, because names, budgets and credentials differ. */
export interface Outgoing {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path and query after the versioned root. */
  readonly path: string;
  /** `path` is whole: nothing of the provider's address stands before it but its origin. */
  readonly whole?: true;
  readonly headers: string[];
  /** A stream is of an upload or a long body, with its exact `content-length` among the headers. */
  readonly body: Uint8Array | Readable | null;
  /** Its answer is a file, which goes to the client as the provider stores it: no coding is undone. */
  readonly file?: boolean;
  /** Turns its answer into one of its family (contract: families/variants); absent: it is one. */
  readonly unwrap?: ExchangeOptions['unwrap'];
}

export interface AttemptDeps {
  readonly clock: Clock;
  readonly pools: Pools;
  readonly health: Health;
}

/** One attempt at one target. */
export interface AttemptRequest {
  readonly target: Target;
  readonly running: AttemptReport;
  readonly timeLimits: AttemptLimits;
  /** Another target is left: the answer is judged by its first words before any of it is sent to the client. */
  readonly further: boolean;
  /** Whether a stream was asked for: first bytes of streams and of whole answers are not alike. */
  readonly stream: boolean;
  /** Whether an answer of status 2xx must be JSON or an event stream; false for files. */
  readonly generates: boolean;
  /** A second try on a new connection, after the kept one had been dropped. */
  readonly fresh: boolean;
  /** Whether it may be sent to the same target once more. */
  readonly repeatable: boolean;
  /** The call's start on the monotonic clock, ms: attempts are timed from there. */
  readonly startMono: number;
  /** Why it is not sent at all; null or absent: it is. */
  readonly unsent?: Unsent | null;
  /** Makes the request; when it throws, there is no attempt. */
  outgoing(): Outgoing;
  /** How a 2xx is read, once its headers are here; null: it is not read. */
  readingOf(exchange: Exchange): Reading | null;
  /** Whose fault an error is, by its status (null: it is inside a 200) and its parsed body; its message is masked. */
  faultOf(status: number | null, body: unknown): Fault;
}

/** Why an attempt failed before anything was sent: its credential gave no token. */
export interface Unsent {
  readonly error: Error;
  readonly fault: Fault;
}

/** An attempt under way. */
export interface OpenAttempt {
  readonly exchange: Exchange;
  /** Monotonic ms. */
  readonly beganMono: number;
  /** Resolves when its answer begins, or it failed. */
  readonly tried: Promise<Tried>;
}

/** The answer that goes to the client. */
export interface Answer {
  readonly target: Target;
  readonly exchange: Exchange;
  /** null: it is not read. */
  readonly reading: Reading | null;
  /** Gets the result when the answer has ended; null: its attempt has failed already. */
  readonly running: AttemptReport | null;
  /** Place of its attempt among those of the call. */
  readonly place: number;
  /** When this attempt began, monotonic ms. */
  readonly beganMono: number;
  /** What the attempts before it took together, ms: the providers' time, not ours. */
  readonly failedMs: number;
  /** Whose fault it is, if it is an error; null: it is not. */
  readonly fault: Fault | null;
}

/** One attempt as far as it went before a byte could go to the client. */
export interface Tried {
  /** Its `error` says why there is no answer. */
  readonly record: AttemptRecord;
  readonly tookMs: number;
  /**
   * `answer`: it goes to the client. `again`: the same target is tried on a fresh connection. `next`: the next target
   * is tried; when none is left, `passes` says whether the client gets what came (contract: routing/chain-used-up).
   */
  readonly verdict: 'answer' | 'next' | 'again';
  readonly passes: boolean;
  readonly reading: Reading | null;
  /** The health of its offer has not been updated yet: that is done when the answer has ended. */
  readonly unreported: boolean;
  /** Whose fault its error answer is; null: it is not an error. */
  readonly fault: Fault | null;
  /** What that says about the credential; null: nothing. */
  readonly credentialFault: CredentialFault | null;
  /** Why it failed, if that is a fault of this machine; null: it is not. */
  readonly shortage: Error | null;
}

/** Bytes of first events that are held at most (contract: routing/begun). */
const HELD_BYTES = 64 * 1024;

/** Sends one attempt. A failure is reported to the health of its offer at once, an answer when it has ended. */
export function openAttempt(deps: AttemptDeps, request: AttemptRequest): OpenAttempt {
  const beganMono = deps.clock.mono();
  let reading: Reading | null = null;
  let exchange: Exchange;
  try {
    exchange = open(deps, request, beganMono, (opened) => {
      reading = request.readingOf(opened);
      return reading && observerOf(reading, request.running);
    });
  } catch (error) {
    request.running.over();
    throw error;
  }
  const tried = awaitAnswer(deps, request, { exchange, beganMono, readingNow: () => reading });
  return { exchange, beganMono, tried };
}

async function awaitAnswer(
  deps: AttemptDeps,
  request: AttemptRequest,
  {
    exchange,
    beganMono,
    readingNow,
  }: Omit<OpenAttempt, 'tried'> & { readonly readingNow: () => Reading | null },
): Promise<Tried> {
  let error: string | null = null;
  let verdict: Tried['verdict'] = 'next';
  let fault: Fault | null = null;
  let shortage: Error | null = null;
  try {
    await exchange.ready;
    if (exchange.status < 300) await judge(request, exchange, readingNow());
    else fault = await faultOfStatus(request, exchange);
    verdict = fault === null || fault.whose === 'client' ? 'answer' : 'next';
  } catch (failure) {
    shortage = shortageIn(failure);
    error = failureName(shortage ?? failure);
    if (failure === request.unsent?.error) fault = request.unsent?.fault ?? null;
    if (request.repeatable && isDropped(exchange, error)) verdict = 'again';
  }
  const reading = readingNow();
  if (error === 'error_in_answer') fault = request.faultOf(null, errorBody(reading));
  const unreported = verdict === 'answer' && exchange.status < 300;
  if (!unreported) reportHealth(deps, request, exchange, { error, verdict, fault, shortage });
  const endMono = deps.clock.mono();
  const { target, startMono } = request;
  const record: AttemptRecord = {
    provider: target.offer.provider.id,
    model: target.model.id,
    credential: target.credential.name,
    status: exchange.readyMono === null || error === 'unreadable_answer' ? null : exchange.status,
    error,
    startMs: Math.round(beganMono - startMono),
    durationMs: Math.round(endMono - beganMono),
    upstreamRequestId: providerRequestId(exchange.headers, target.credential.secret),
    // The provider may have done the work (contract: routing/possible-duplicate).
    possibleDuplicate:
      verdict === 'again' || error === 'first_byte_timeout' || error === 'first_word_timeout',
    ...providerError(fault),
  };
  const passes = error === null || passesOn(exchange, reading, error);
  const credentialFault = fault && credentialFaultOf(exchange.status, fault);
  const tookMs = endMono - beganMono;
  return { record, tookMs, verdict, passes, reading, unreported, fault, credentialFault, shortage };
}

function reportHealth(
  deps: AttemptDeps,
  { running, stream }: AttemptRequest,
  exchange: Exchange,
  outcome: Pick<Tried, 'verdict' | 'fault' | 'shortage'> & { readonly error: string | null },
): void {
  const nowMs = deps.clock.now();
  const { error, verdict, fault, shortage } = outcome;
  const ours = error === 'client_gone' || shortage !== null;
  if (ours || verdict === 'again') running.abandoned(nowMs);
  else if (verdict === 'answer') running.succeeded(null, stream, nowMs);
  else if (fault !== null) reportFault(running, fault, exchange, nowMs);
  else running.failed(plainFailure(exchange, error), nowMs);
}

/** A failure that says nothing about the credential. @param what as the call log names it; null: an unwanted answer. */
export function plainFailure({ readyMono, status }: Exchange, what: string | null): AttemptFailure {
  return {
    status: readyMono === null ? null : status,
    what: what ?? 'unexpected_answer',
    credential: null,
    retryAfterMs: null,
  };
}

/** Reports an error to the health of an offer; one that the client caused says nothing against the offer. */
export function reportFault(
  running: AttemptReport,
  fault: Fault,
  { status, headers }: Exchange,
  nowMs: number,
): void {
  if (fault.whose === 'client') {
    running.succeeded(null, false, nowMs);
    return;
  }
  const limited = status === 429 || fault.kind === 'rate_limit';
  const wait = limited ? (retryAfterMs(headers, nowMs) ?? fault.waitMs) : null;
  const credential = credentialFaultOf(status, fault);
  const answered = status === 0 ? null : status;
  running.failed({ status: answered, what: fault.kind, credential, retryAfterMs: wait }, nowMs);
}

/** The error object of an answer, as `faultOf` reads it. */
export function errorBody(reading: Reading | null): unknown {
  return { error: reading?.meter.error };
}

/** Feeds the meter, which shows whether a piece says something. */
function observerOf({ meter, framing }: Reading, running: AttemptReport): ExchangeObserver {
  let said = 0;
  return {
    data: (chunk) => {
      meter.push(chunk);
      const before = said;
      said = meter.said;
      // A whole answer says nothing before all of it is here.
      if (before === 0 && said > 0 && framing !== 'whole') running.spoke();
      return said > before;
    },
    over: () => meter.end(),
  };
}

/**
 * Whether a 2xx is the answer (contract: routing/begun, routing/unusable-answer). Waits for the whole of a whole
 * answer, up to 1 MiB; of a stream, while another target is left, for its first word.
 * @throws UnreadableAnswer, UnusableAnswer; whatever broke the exchange before it said something.
 */
async function judge(
  { generates, further, timeLimits }: AttemptRequest,
  exchange: Exchange,
  reading: Reading | null,
): Promise<void> {
  if (!generates) return;
  if (reading?.plain) {
    if (exchange.opening.length === 0) throw new UnusableAnswer('empty');
    return;
  }
  if (isUnreadable(exchange)) {
    const unreadable = new UnreadableAnswer('the answer is neither JSON nor an event stream');
    exchange.abort(unreadable);
    throw unreadable;
  }
  // Nobody can look into a coding that is not undone here.
  if (reading === null || codingOf(exchange.headers) !== '') return;
  const { meter, framing } = reading;
  if (framing === 'whole') await exchange.keepWhole();
  else if (further) {
    await exchange.keep({
      mostBytes: HELD_BYTES,
      mostMs: timeLimits.holdMs,
      until: () => meter.said > 0 || meter.failed,
    });
    if (meter.said > 0) return;
    if (meter.failed) throw new UnusableAnswer('error');
  } else return;
  const state = exchange.ended ? meter.state() : 'complete';
  if (state !== 'complete' && state !== 'unread') throw new UnusableAnswer(state);
}

/**
 * Whether an answer that failed may still go to the client when no target is left: a stream as it came; of a whole
 * answer only one that shows more than an error, such as usage.
 */
function passesOn({ opening }: Exchange, reading: Reading | null, error: string): boolean {
  if (reading === null || opening.length === 0) return false;
  if (error === 'client_gone' || error === 'unreadable_answer') return false;
  const { meter, framing } = reading;
  if (framing !== 'whole') return true;
  return (
    meter.state() === 'error' && (meter.report() !== null || meter.outputBytes > 0 || meter.shown.length > 0)
  );
}

/** How soon the close arrives if a provider had ended a kept connection before our request reached it, ms. */
const DROPPED_MS = 1_000;

/** Whether a kept connection was dropped before our request reached it (contract: routing/pooled-connections). */
function isDropped(exchange: Exchange, error: string): boolean {
  return (error === 'connection_closed' || error === 'connection_reset') && exchange.wasDropped(DROPPED_MS);
}

/** Bytes in an unknown content coding cannot be checked. */
function isUnreadable({ headers, opening }: Exchange): boolean {
  return codingOf(headers) === '' && !opensLikeAnswer(opening);
}

/** Whose fault an error answer is, according to its body; null: it is not an error. */
async function faultOfStatus(request: AttemptRequest, exchange: Exchange): Promise<Fault | null> {
  const { status } = exchange;
  if (status < 400) return null;
  return request.faultOf(status, await parsedBody(exchange, isDecided(status)));
}

function open(
  deps: AttemptDeps,
  request: AttemptRequest,
  nowMono: number,
  observe: (exchange: Exchange) => ExchangeObserver | null,
): Exchange {
  const limits = request.timeLimits;
  // First, because if this throws, there is no exchange yet whose timers would have to be stopped.
  const out = request.unsent ? null : request.outgoing();
  const exchange = new Exchange(
    {
      firstByteMs: limits.firstByteMs,
      firstWordMs: limits.firstWordMs,
      idleMs: limits.idleMs,
      totalMs: Math.max(1, limits.totalMs - (nowMono - request.startMono)),
    },
    { onOver: () => request.running.over(), decodes: out?.file !== true, observe, unwrap: out?.unwrap },
  );
  if (out === null) {
    exchange.abort(request.unsent?.error ?? new Error('there is nothing to send'));
    return exchange;
  }
  const { address } = request.target;
  const { origin } = placeOf(address);
  const { pools } = deps;
  poolFor(pools, request, origin).dispatch(
    { method: out.method, path: sentPath(address, out), headers: out.headers, body: out.body },
    exchange,
  );
  return exchange;
}

/** An own address is connected to only if it is public (contract: own-keys/address). */
export function poolFor(
  pools: Pools,
  {
    target,
    fresh,
    timeLimits,
  }: Pick<AttemptRequest, 'target' | 'fresh'> & {
    readonly timeLimits: Pick<AttemptLimits, 'connectMs'>;
  },
  origin: string,
) {
  const { connectMs } = timeLimits;
  if (target.credential.own?.address) return pools.guarded(origin, connectMs);
  return fresh ? pools.fresh(origin, connectMs) : pools.for(origin, connectMs);
}

/** The whole path that is sent. */
export function sentPath(address: URL, { path, whole }: Pick<Outgoing, 'path' | 'whole'>): string {
  return whole ? path : `${placeOf(address).root}${path}`;
}

const places = new WeakMap<URL, { readonly origin: string; readonly root: string }>();

/** An address taken apart, once: a URL computes its parts at every reading. */
function placeOf(address: URL): { readonly origin: string; readonly root: string } {
  const known = places.get(address);
  if (known) return known;
  const made = { origin: address.origin, root: address.pathname.replace(/\/+$/, '') };
  places.set(address, made);
  return made;
}

/** What the call log keeps of a provider's error (contract: call-log/provider-error). */
export function providerError(fault: Fault | null): Pick<AttemptRecord, 'providerCode' | 'providerMessage'> {
  return { providerCode: fault?.code ?? null, providerMessage: fault?.message ?? null };
}
