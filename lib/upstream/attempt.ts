import type { Readable } from 'node:stream';
import type { Clock } from '#lib/clock';
import type { Health, Running } from '#lib/routing/health';
import type { Target, TimeLimits } from '#lib/routing/target';
import type { AttemptRecord } from '#lib/settlement/entry';
import { classify, failureName } from '#lib/upstream/classify';
import { codingOf } from '#lib/upstream/decode';
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

export interface AttemptRun {
  readonly targets: readonly Target[];
  readonly timeLimits: TimeLimits;
  /** Whether a stream was asked for: first bytes of streams and of whole answers are not alike. */
  readonly stream: boolean;
  /** Whether an answer of status 2xx must be JSON or an event stream; false for files. */
  readonly generates: boolean;
  /** The call's start on the monotonic clock, ms: attempts are timed from there. */
  readonly startMono: number;
  outgoing(target: Target): Outgoing;
  /** Reads whether a body names the operator's own fault (each family's check). */
  isOperatorFault(status: number, body: Uint8Array): boolean;
  /** Every attempt as it ends, in order; the answering one when its answer begins. */
  record(attempt: AttemptRecord): void;
  /** The exchange under way, so that a client that leaves can end it. */
  underway(exchange: Exchange): void;
  gone(): boolean;
}

/** The answer that goes to the client. */
export interface Answer {
  readonly target: Target;
  readonly exchange: Exchange;
  /** When this attempt began, monotonic ms. */
  readonly beganMono: number;
  /** What the attempts before it took together, ms: the providers' time, not ours. */
  readonly failedMs: number;
}

/** A 2xx whose body starts neither JSON nor an event stream, such as an HTML error page or an empty body. */
class UnreadableAnswer extends Error {
  readonly code = 'UNREADABLE_ANSWER';
}

/** One attempt as far as it went before a byte could go to the client. */
interface Tried {
  readonly exchange: Exchange;
  readonly beganMono: number;
  readonly tookMs: number;
  /** Why there is no HTTP answer; null: there is one. */
  readonly error: string | null;
  readonly verdict: 'answer' | 'next';
}

/**
 * Tries the targets in order until one gives an answer that is the client's to see (contract: routing/next-target). A
 * target that the breaker has set aside since the plan was made waits until the others were tried; one
 * whose retry budget is used up is left out. When the chain is used up, the last attempt that got an
 * HTTP answer is the answer (contract: routing/chain-used-up, routing/not-after-first-byte).
 * @returns null when no attempt got an HTTP answer.
 */
export async function attempt(deps: AttemptDeps, run: AttemptRun): Promise<Answer | null> {
  const planned = run.targets.length;
  let queue = run.targets;
  let made = 0;
  let failedMs = 0;
  let last: Answer | null = null;
  for (let at = 0; at < queue.length && !run.gone(); at += 1) {
    const target = queue[at];
    if (!target) break;
    const nowMs = deps.clock.now();
    if (at < planned - 1 && deps.health.isAside(target.offer.id, nowMs) && othersLeft(deps, run, at, nowMs)) {
      queue = [...queue, target];
      continue;
    }
    const running = deps.health.begin(target.offer.id, nowMs, made > 1);
    if (!running) continue;
    made += 1;
    const tried = await tryTarget(deps, run, target, running);
    if (tried.error === 'client_gone') {
      last?.exchange.abort(new Error('the client left'));
      return null;
    }
    if (tried.error === null) {
      last?.exchange.abort(new Error('another attempt answered'));
      last = { target, exchange: tried.exchange, beganMono: tried.beganMono, failedMs };
      if (tried.verdict === 'answer') break;
    }
    failedMs += tried.tookMs;
  }
  return last;
}

/** Whether a later target is not set aside. */
function othersLeft({ health }: AttemptDeps, { targets }: AttemptRun, at: number, nowMs: number): boolean {
  return targets.some((one, later) => later > at && !health.isAside(one.offer.id, nowMs));
}

async function tryTarget(
  deps: AttemptDeps,
  run: AttemptRun,
  target: Target,
  running: Running,
): Promise<Tried> {
  const beganMono = deps.clock.mono();
  let exchange: Exchange;
  try {
    exchange = open(deps, run, target, beganMono, () => running.over());
  } catch (error) {
    running.over();
    throw error;
  }
  run.underway(exchange);
  let error: string | null = null;
  let verdict: 'answer' | 'next' = 'next';
  try {
    await exchange.ready;
    if (run.generates && isUnreadable(exchange)) {
      const unreadable = new UnreadableAnswer('the answer is neither JSON nor an event stream');
      exchange.abort(unreadable);
      throw unreadable;
    }
    const told = classify(exchange.status);
    verdict = told === 'read' ? await judge(run, exchange) : told;
  } catch (failure) {
    error = failureName(failure);
  }
  const endMono = deps.clock.mono();
  run.record(recordAttempt(run, target, exchange, beganMono, endMono, error));
  const nowMs = deps.clock.now();
  if (error === 'client_gone') running.abandoned(nowMs);
  else if (verdict === 'answer') {
    running.succeeded(exchange.status < 300 ? endMono - beganMono : null, run.stream, nowMs);
  } else {
    const asked = error === null && exchange.status === 429;
    running.failed(asked ? retryAfterMs(exchange.headers, nowMs) : null, nowMs);
  }
  return { exchange, beganMono, tookMs: endMono - beganMono, error, verdict };
}

/** Bytes in an unknown content coding cannot be checked. */
function isUnreadable({ status, headers, opening }: Exchange): boolean {
  return status < 300 && codingOf(headers) === '' && !opensLikeAnswer(opening);
}

/** What an answer means for the chain, where only its body shows it. */
async function judge(run: AttemptRun, exchange: Exchange): Promise<'answer' | 'next'> {
  return run.isOperatorFault(exchange.status, await exchange.peek()) ? 'next' : 'answer';
}

function open(
  deps: AttemptDeps,
  run: AttemptRun,
  target: Target,
  nowMono: number,
  onOver: () => void,
): Exchange {
  const limits = run.timeLimits;
  // First of all: when this throws, there is no exchange yet whose timers would have to be stopped.
  const out = run.outgoing(target);
  const exchange = new Exchange(
    {
      firstByteMs: limits.firstByteMs,
      idleMs: limits.idleMs,
      totalMs: Math.max(1, limits.totalMs - (nowMono - run.startMono)),
    },
    onOver,
    out.file !== true,
  );
  const { origin, root } = placeOf(target.address);
  deps.pools
    .for(origin, limits.connectMs)
    .dispatch(
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
  run: AttemptRun,
  target: Target,
  exchange: Exchange,
  beganMono: number,
  endMono: number,
  error: string | null,
): AttemptRecord {
  return {
    provider: target.offer.provider.id,
    model: target.model.id,
    status: error === null ? exchange.status : null,
    error,
    startMs: Math.round(beganMono - run.startMono),
    durationMs: Math.round(endMono - beganMono),
    upstreamRequestId: providerRequestId(exchange.headers, target.credential),
    // The provider may have done the work (contract: routing/possible-duplicate).
    possibleDuplicate: error === 'first_byte_timeout',
  };
}
