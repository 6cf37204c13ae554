import { Refused, refusal } from '#lib/errors';
import type { Ask, Family } from '#lib/families/family';
import { nestedEdits } from '#lib/families/nested';
import type { Call } from '#lib/gateway/call';
import { chargeCall } from '#lib/gateway/charge';
import { stripKey } from '#lib/gateway/credentials';
import type { Runtime } from '#lib/gateway/runtime';
import type { GoneWatch } from '#lib/gateway/steps/client-gone';
import { editedBody } from '#lib/gateway/upload/edited-body';
import type { Target } from '#lib/routing/target';
import { type Answer, attempt, type Outgoing } from '#lib/upstream/attempt';
import { failureName } from '#lib/upstream/classify';
import type { Exchange } from '#lib/upstream/exchange';
import { follow } from '#lib/upstream/follow';
import { headersToProvider } from '#lib/upstream/headers';

/** The only outside call: the plan's targets in order, until one answers (decisions §12). */
export async function attemptTargets(runtime: Runtime, call: Call, client: GoneWatch): Promise<Answer> {
  const { ask, family, plan } = call;
  if (!ask || !family || !plan) throw new Error('an attempt is made after planning');
  const sent: { exchange: Exchange | null; target: Target | null } = { exchange: null, target: null };
  const answer = await attempt(runtime, {
    targets: plan.targets,
    timeLimits: plan.timeLimits,
    stream: ask.stream,
    startMono: call.startMono,
    outgoing: (target) => {
      sent.target = target;
      return outgoing(call, ask, family, target);
    },
    isOperatorFault: (status, body) => family.isOperatorFault(status, parsed(body)),
    record: (record) => call.attempts.push(record),
    underway: (exchange) => {
      sent.exchange = exchange;
      client.underway(exchange, sent.target?.offer.provider.onDisconnect ?? 'abort');
    },
    gone: () => call.gone,
  });
  if (answer) {
    call.beganMono = answer.beganMono;
    call.leadMs = answer.beganMono - call.startMono - answer.failedMs;
    return ask.operation.download === 'redirected' ? followed(runtime, call, client, answer) : answer;
  }
  call.upstreamMs = call.attempts.reduce((sum, one) => sum + one.durationMs, 0);
  if (call.gone) {
    call.endReason = 'client_gone';
    call.target = sent.target;
    chargeCall(call, null, sent.exchange?.sentWhole ?? false);
  } else {
    call.endReason = call.attempts.at(-1)?.error?.endsWith('timeout') ? 'timeout' : 'upstream_error';
  }
  const causes = call.attempts.map((one) => `${one.provider}: ${one.error ?? one.status}`).join(', ');
  throw new Refused(
    refusal('upstream_request_failed', `No provider answered (${causes}); retry with backoff.`),
  );
}

function outgoing(call: Call, ask: Ask, family: Family, target: Target): Outgoing {
  const edits =
    ask.operation.steps === 'stored'
      ? []
      : [...family.edits(ask, target.offer, target.injectBudget), ...nestedEdits(ask, target.nested)];
  const { body, contentLength } = editedBody(ask.scan, edits);
  const given = stripKey(call.query);
  const query = family.upstreamQuery?.(given, ask.operation) ?? given;
  return {
    method: ask.operation.method,
    path: `${family.upstreamPath(ask, target.offer)}${query ? `?${query}` : ''}`,
    headers: [
      ...headersToProvider(
        call.arrival.headers,
        family.credentialHeader(target.credential),
        bodyOf(ask),
        target.offer.denyBetas,
      ),
      ...(contentLength === null ? [] : ['content-length', String(contentLength)]),
    ],
    body,
  };
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
