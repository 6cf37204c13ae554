import type { Readable } from 'node:stream';
import type { Clock } from '#lib/clock';
import type { Fault } from '#lib/families/reading/fault';
import type { AttemptReport, Health } from '#lib/routing/health';
import type { Target, TimeLimits } from '#lib/routing/target';
import type { AttemptRecord } from '#lib/settlement/entry';
import { failureName, isDecided } from '#lib/upstream/classify';
import { codingOf } from '#lib/upstream/decode';
import { errorBody } from '#lib/upstream/error-body';
import { Exchange } from '#lib/upstream/exchange';
import { providerRequestId, retryAfterMs } from '#lib/upstream/headers';
import { opensLikeAnswer } from '#lib/upstream/opening';
import type { Pools } from '#lib/upstream/pools';

/** What goes to one target: made per target, because names, budgets and credentials differ. */
export interface Outgoing {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path and query after the versioned root. */
  readonly path: string;
  readonly headers: string[];
  /** A stream is of an upload or a long body, with its exact `content-length` among the headers. */
  readonly body: Uint8Array | Readable | null;
  /** Its answer is a file, which goes to the client as the provider stores it: no coding is undone. */
  readonly file?: boolean;
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
  readonly timeLimits: TimeLimits;
  /** Whether a stream was asked for: first bytes of streams and of whole answers are not alike. */
  readonly stream: boolean;
  /** Whether an answer of status 2xx must be JSON or an event stream; false for files. */
  readonly generates: boolean;
  /** Once more on a connection of its own, after the one that was kept had been dropped. */
  readonly fresh: boolean;
  /** Whether it may be sent to the same target once more. */
  readonly repeatable: boolean;
  /** The call's start on the monotonic clock, ms: attempts are timed from there. */
  readonly startMono: number;
  /** Makes the request; when it throws, there is no attempt. */
  outgoing(): Outgoing;
  /** Whose fault an error is, by its status and its parsed body. */
  faultOf(status: number, body: unknown): Fault;
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
  /** When this attempt began, monotonic ms. */
  readonly beganMono: number;
  /** What the attempts before it took together, ms: the providers' time, not ours. */
  readonly failedMs: number;
  /** Whose fault it is, where it is an error; null: it is none. */
  readonly fault: Fault | null;
}

/** A 2xx whose body starts neither JSON nor an event stream, such as an HTML error page or an empty body. */
class UnreadableAnswer extends Error {
  readonly code = 'UNREADABLE_ANSWER';
}

/** One attempt as far as it went before a byte could go to the client. */
export interface Tried {
  /** Its `error` says why there is no HTTP answer. */
  readonly record: AttemptRecord;
  readonly tookMs: number;
  /** `again`: the same target on a fresh connection. */
  readonly verdict: 'answer' | 'next' | 'again';
  /** Whose fault its error answer is; null: it is none. */
  readonly fault: Fault | null;
}

/** Sends one attempt. Its outcome is told to the health of its offer. */
export function openAttempt(deps: AttemptDeps, request: AttemptRequest): OpenAttempt {
  const beganMono = deps.clock.mono();
  let exchange: Exchange;
  try {
    exchange = open(deps, request, beganMono);
  } catch (error) {
    request.running.over();
    throw error;
  }
  return { exchange, beganMono, tried: read(deps, request, exchange, beganMono) };
}

async function read(
  deps: AttemptDeps,
  request: AttemptRequest,
  exchange: Exchange,
  beganMono: number,
): Promise<Tried> {
  const { running } = request;
  let error: string | null = null;
  let verdict: Tried['verdict'] = 'next';
  let fault: Fault | null = null;
  try {
    await exchange.ready;
    if (request.generates && isUnreadable(exchange)) {
      const unreadable = new UnreadableAnswer('the answer is neither JSON nor an event stream');
      exchange.abort(unreadable);
      throw unreadable;
    }
    fault = await judge(request, exchange);
    verdict = fault === null || fault.whose === 'client' ? 'answer' : 'next';
  } catch (failure) {
    error = failureName(failure);
    if (request.repeatable && isDropped(exchange, error)) verdict = 'again';
  }
  const endMono = deps.clock.mono();
  const nowMs = deps.clock.now();
  if (error === 'client_gone' || verdict === 'again') running.abandoned(nowMs);
  else if (verdict === 'answer') {
    running.succeeded(exchange.status < 300 ? endMono - beganMono : null, request.stream, nowMs);
  } else {
    const asked = error === null && exchange.status === 429;
    const waitMs = asked ? (retryAfterMs(exchange.headers, nowMs) ?? fault?.waitMs ?? null) : null;
    running.failed(waitMs, nowMs);
  }
  const possibleDuplicate = verdict === 'again' || error === 'first_byte_timeout';
  const record = recordAttempt(request, exchange, { beganMono, endMono, error, possibleDuplicate });
  return { record, tookMs: endMono - beganMono, verdict, fault };
}

/** How soon a provider closes that had ended a kept connection before our request reached it, ms. */
const DROPPED_MS = 1_000;

/** Whether a kept connection was dropped (contract: routing/pooled-connections). */
function isDropped(exchange: Exchange, error: string): boolean {
  return (error === 'connection_closed' || error === 'connection_reset') && exchange.wasDropped(DROPPED_MS);
}

/** Bytes in an unknown content coding cannot be checked. */
function isUnreadable({ status, headers, opening }: Exchange): boolean {
  return status < 300 && codingOf(headers) === '' && !opensLikeAnswer(opening);
}

/** Whose fault an error answer is, after its body; null: it is no error. */
async function judge(request: AttemptRequest, exchange: Exchange): Promise<Fault | null> {
  const { status } = exchange;
  if (status < 400) return null;
  return request.faultOf(status, await errorBody(exchange, isDecided(status)));
}

function open(deps: AttemptDeps, request: AttemptRequest, nowMono: number): Exchange {
  const limits = request.timeLimits;
  // First of all: when this throws, there is no exchange yet whose timers would have to be stopped.
  const out = request.outgoing();
  const exchange = new Exchange(
    {
      firstByteMs: limits.firstByteMs,
      idleMs: limits.idleMs,
      totalMs: Math.max(1, limits.totalMs - (nowMono - request.startMono)),
    },
    () => request.running.over(),
    out.file !== true,
  );
  const { origin, root } = placeOf(request.target.address);
  const { pools } = deps;
  const pool = request.fresh ? pools.fresh(origin, limits.connectMs) : pools.for(origin, limits.connectMs);
  pool.dispatch(
    { method: out.method, path: `${root}${out.path}`, headers: out.headers, body: out.body },
    exchange,
  );
  return exchange;
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

function recordAttempt(
  { target, startMono }: AttemptRequest,
  exchange: Exchange,
  {
    beganMono,
    endMono,
    error,
    possibleDuplicate,
  }: {
    readonly beganMono: number;
    readonly endMono: number;
    readonly error: string | null;
    readonly possibleDuplicate: boolean;
  },
): AttemptRecord {
  return {
    provider: target.offer.provider.id,
    model: target.model.id,
    status: error === null ? exchange.status : null,
    error,
    startMs: Math.round(beganMono - startMono),
    durationMs: Math.round(endMono - beganMono),
    upstreamRequestId: providerRequestId(exchange.headers, target.credential),
    // The provider may have done the work (contract: routing/possible-duplicate).
    possibleDuplicate,
  };
}
