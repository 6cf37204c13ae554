import type { Clock } from '#lib/clock';
import type { Health } from '#lib/routing/health';
import type { Target, TimeLimits } from '#lib/routing/target';
import type { AttemptRecord } from '#lib/settlement/entry';
import { classify, failureName, isOfferFailure } from '#lib/upstream/classify';
import { Exchange } from '#lib/upstream/exchange';
import { providerRequestId, retryAfterMs } from '#lib/upstream/headers';
import type { Pools } from '#lib/upstream/pools';

/** What goes to one target: made per target, because names, budgets and credentials differ. */
export interface Outgoing {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path and query after the versioned root. */
  readonly path: string;
  readonly headers: string[];
  readonly body: Uint8Array | null;
}

export interface AttemptDeps {
  readonly clock: Clock;
  readonly pools: Pools;
  readonly health: Health;
  newId(): string | null;
}

export interface AttemptRun {
  readonly targets: readonly Target[];
  readonly timeLimits: TimeLimits;
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
}

/**
 * Tries the targets in order until one gives an answer that is the client's to see (decisions §12).
 * When the chain is used up, the last attempt that got an HTTP answer is the answer.
 * @returns null when no attempt got an HTTP answer.
 */
export async function attempt(deps: AttemptDeps, run: AttemptRun): Promise<Answer | null> {
  let last: Answer | null = null;
  for (const [position, target] of run.targets.entries()) {
    if (run.gone()) break;
    const beganMono = deps.clock.mono();
    const exchange = open(deps, run, target, beganMono);
    run.underway(exchange);
    let error: string | null = null;
    let verdict: 'answer' | 'next' = 'next';
    let body: Uint8Array | null = null;
    try {
      await exchange.ready;
      const first = classify(exchange.status);
      if (first === 'read') body = await exchange.peek();
      verdict =
        first === 'read'
          ? run.isOperatorFault(exchange.status, body ?? new Uint8Array())
            ? 'next'
            : 'answer'
          : first;
    } catch (failure) {
      error = failureName(failure);
    }
    const endMono = deps.clock.mono();
    run.record(recordAttempt(deps, run, target, exchange, beganMono, endMono, error));
    noteHealth(deps, target, exchange, verdict, error, endMono - beganMono);
    if (error === null) {
      last?.exchange.abort(new Error('another attempt answered'));
      last = { target, exchange, beganMono };
      if (verdict === 'answer' || position === run.targets.length - 1) return last;
    }
  }
  return last;
}

function open(deps: AttemptDeps, run: AttemptRun, target: Target, nowMono: number): Exchange {
  const limits = run.timeLimits;
  const exchange = new Exchange({
    firstByteMs: limits.firstByteMs,
    idleMs: limits.idleMs,
    totalMs: Math.max(1, limits.totalMs - (nowMono - run.startMono)),
  });
  const out = run.outgoing(target);
  const root = target.address.pathname.replace(/\/+$/, '');
  deps.pools
    .for(target.address.origin, limits.connectMs)
    .dispatch(
      { method: out.method, path: `${root}${out.path}`, headers: out.headers, body: out.body },
      exchange,
    );
  return exchange;
}

function recordAttempt(
  deps: AttemptDeps,
  run: AttemptRun,
  target: Target,
  exchange: Exchange,
  beganMono: number,
  endMono: number,
  error: string | null,
): AttemptRecord {
  return {
    id: deps.newId() ?? '00000000-0000-7000-8000-000000000000',
    provider: target.offer.provider.id,
    model: target.model.id,
    status: error === null ? exchange.status : null,
    error,
    startMs: Math.round(beganMono - run.startMono),
    durationMs: Math.round(endMono - beganMono),
    upstreamRequestId: providerRequestId(exchange.headers),
    possibleDuplicate: error === 'first_byte_timeout',
  };
}

function noteHealth(
  deps: AttemptDeps,
  target: Target,
  exchange: Exchange,
  verdict: 'answer' | 'next',
  error: string | null,
  tookMs: number,
): void {
  const nowMs = deps.clock.now();
  if (error === 'client_gone') return;
  if (error !== null || verdict === 'next' || isOfferFailure(exchange.status)) {
    deps.health.failed(target.offer.id, error === null ? retryAfterMs(exchange.headers, nowMs) : null, nowMs);
  } else {
    deps.health.succeeded(target.offer.id, tookMs, nowMs);
  }
}
