import { Refused, refusal } from '#lib/errors';
import type { Ask, Family } from '#lib/families/family';
import { outgoing } from '#lib/gateway/attempt/outgoing';
import { followRedirects } from '#lib/gateway/attempt/redirects';
import type { Call } from '#lib/gateway/call';
import { chargeCall } from '#lib/gateway/charge';
import { closedEarly } from '#lib/gateway/relay/unread';
import type { Runtime } from '#lib/gateway/runtime';
import type { GoneWatch } from '#lib/gateway/steps/client-gone';
import type { Target, TimeLimits } from '#lib/routing/target';
import type { AttemptRecord } from '#lib/settlement/entry';
import { type Answer, type AttemptRun, attempt, type Outgoing } from '#lib/upstream/attempt';
import type { Exchange } from '#lib/upstream/exchange';

/** The only outside call: the plan's targets in order, until one answers (contract: routing/next-target). */
export function attemptTargets(runtime: Runtime, call: Call, client: GoneWatch): Promise<Answer> {
  const run = new CallRun(call, client);
  return attempt(runtime, run).then((answer) => {
    if (!answer) throw noAnswer(runtime, call, run);
    call.leadMs = answer.beganMono - call.startMono - answer.failedMs;
    const redirected = call.ask?.operation.download === 'redirected';
    return redirected ? followRedirects(runtime, call, client, answer) : answer;
  });
}

/** No attempt got an answer: how the call ends, and what its client is told. */
function noAnswer(runtime: Runtime, call: Call, run: CallRun): Refused {
  call.upstreamMs = call.attempts.reduce((sum, one) => sum + one.durationMs, 0);
  if (call.gone) {
    call.endReason = 'client_gone';
    call.target = run.target;
    // An attempt that failed at the provider is free, whether or not the client was still waiting.
    const closed = call.attempts.at(-1)?.error === 'client_gone';
    chargeCall(call, null, closed ? closedEarly(runtime, call, run.exchange) : { end: 'broken' });
  } else {
    call.endReason = call.attempts.at(-1)?.error?.endsWith('timeout') ? 'timeout' : 'upstream_error';
  }
  const causes = call.attempts.map((one) => `${one.provider}: ${one.error ?? one.status}`).join(', ');
  return new Refused(
    refusal('upstream_request_failed', `No provider answered (${causes}); retry with backoff.`),
  );
}

/** A call's attempts as `upstream/attempt` makes them. */
class CallRun implements AttemptRun {
  readonly targets: readonly Target[];
  readonly timeLimits: TimeLimits;
  readonly stream: boolean;
  readonly generates: boolean;
  readonly startMono: number;
  /** Where the newest attempt goes. */
  target: Target | null = null;
  exchange: Exchange | null = null;
  readonly #call: Call;
  readonly #ask: Ask;
  readonly #family: Family;
  readonly #client: GoneWatch;

  constructor(call: Call, client: GoneWatch) {
    const { ask, family, plan } = call;
    if (!ask || !family || !plan) throw new Error('an attempt is made after planning');
    this.targets = plan.targets;
    this.timeLimits = plan.timeLimits;
    this.stream = ask.stream;
    this.generates = ask.operation.steps === 'generate';
    this.startMono = call.startMono;
    this.#call = call;
    this.#ask = ask;
    this.#family = family;
    this.#client = client;
  }

  outgoing(target: Target): Outgoing {
    this.target = target;
    return outgoing(this.#call, this.#ask, this.#family, target);
  }

  isOperatorFault(status: number, body: Uint8Array): boolean {
    return this.#family.isOperatorFault(status, parsed(body));
  }

  record(record: AttemptRecord): void {
    this.#call.attempts.push(record);
  }

  underway(exchange: Exchange): void {
    this.exchange = exchange;
    this.#client.underway(exchange, this.target?.offer.provider.onDisconnect ?? 'drain');
  }

  gone(): boolean {
    return this.#call.gone;
  }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null;
  }
}
