import { Refused, refusal } from '#lib/errors';
import type { Ask, Edit, Family } from '#lib/families/family';
import { nestedEdits } from '#lib/families/nested';
import type { Call } from '#lib/gateway/call';
import { chargeCall } from '#lib/gateway/charge';
import { stripKey } from '#lib/gateway/credentials';
import type { Runtime } from '#lib/gateway/runtime';
import type { GoneWatch } from '#lib/gateway/steps/client-gone';
import { editedBody } from '#lib/gateway/upload/edited-body';
import type { Target, TimeLimits } from '#lib/routing/target';
import type { AttemptRecord } from '#lib/settlement/entry';
import { type Answer, type AttemptRun, attempt, type Outgoing } from '#lib/upstream/attempt';
import { failureName } from '#lib/upstream/classify';
import type { Exchange } from '#lib/upstream/exchange';
import { follow } from '#lib/upstream/follow';
import { headersToProvider } from '#lib/upstream/headers';

/** The only outside call: the plan's targets in order, until one answers (decisions §12). */
export function attemptTargets(runtime: Runtime, call: Call, client: GoneWatch): Promise<Answer> {
  const run = new CallRun(call, client);
  return attempt(runtime, run).then((answer) => {
    if (!answer) throw noAnswer(call, run);
    call.beganMono = answer.beganMono;
    call.leadMs = answer.beganMono - call.startMono - answer.failedMs;
    const redirected = call.ask?.operation.download === 'redirected';
    return redirected ? followed(runtime, call, client, answer) : answer;
  });
}

/** No attempt got an answer: how the call ends, and what its client is told. */
function noAnswer(call: Call, run: CallRun): Refused {
  call.upstreamMs = call.attempts.reduce((sum, one) => sum + one.durationMs, 0);
  if (call.gone) {
    call.endReason = 'client_gone';
    call.target = run.target;
    chargeCall(call, null, run.exchange?.sentWhole ?? false);
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
    this.#client.underway(exchange, this.target?.offer.provider.onDisconnect ?? 'abort');
  }

  gone(): boolean {
    return this.#call.gone;
  }
}

function outgoing(call: Call, ask: Ask, family: Family, target: Target): Outgoing {
  const { body, contentLength } = editedBody(ask.scan, editsOf(ask, family, target));
  const given = call.query === '' ? '' : stripKey(call.query);
  const query = family.upstreamQuery?.(given, ask.operation) ?? given;
  const path = family.upstreamPath(ask, target.offer);
  const headers = headersToProvider(
    call.arrival.headers,
    family.credentialHeader(target.credential),
    bodyOf(ask),
    target.offer.denyBetas,
    call.snapshot?.workspace.id ?? '',
  );
  if (contentLength !== null) headers.push('content-length', String(contentLength));
  return { method: ask.operation.method, path: query === '' ? path : `${path}?${query}`, headers, body };
}

function editsOf(ask: Ask, family: Family, target: Target): readonly Edit[] {
  if (ask.operation.steps === 'stored') return [];
  const edits = family.edits(ask, target.offer, target.injectBudget);
  return ask.nested ? [...edits, ...nestedEdits(ask, target.nested)] : edits;
}

function bodyOf({ operation, scan }: Ask): 'json' | 'form' | 'none' | 'content' {
  if (operation.download) return 'content';
  if (operation.steps === 'stored') return 'none';
  return scan.upload ? 'form' : 'json';
}

/** The answer behind a provider's redirects; they belong to its attempt. */
async function followed(runtime: Runtime, call: Call, client: GoneWatch, answer: Answer): Promise<Answer> {
  const { ask, family, plan } = call;
  if (!ask || !family || !plan) return answer;
  const { target } = answer;
  const attempt = call.attempts.pop();
  const close = (status: number | null, error: string | null) => {
    const durationMs = Math.round(runtime.clock.mono() - answer.beganMono);
    if (attempt) call.attempts.push({ ...attempt, status, error, durationMs });
  };
  try {
    const exchange = await follow(runtime.pools, answer.exchange, {
      address: target.address,
      headers: outgoing(call, ask, family, target).headers,
      timeLimits: plan.timeLimits,
      underway: (next) => client.underway(next, 'abort'),
    });
    close(exchange.status, null);
    return { ...answer, exchange };
  } catch (error) {
    const name = failureName(error);
    close(null, name);
    call.upstreamMs = runtime.clock.mono() - answer.beganMono;
    call.endReason = call.gone ? 'client_gone' : name.endsWith('timeout') ? 'timeout' : 'upstream_error';
    throw new Refused(
      refusal(
        'upstream_request_failed',
        `The provider's redirects of this file lead nowhere (${name}); retry with backoff.`,
      ),
    );
  }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null;
  }
}
