import { Refused, refusal, retryIn, unaccountable } from '#lib/core/errors';
import { followRedirects } from '#lib/gateway/flow/attempt/redirects';
import { type GivenAnswer, type Tries, tryTargets } from '#lib/gateway/flow/attempt/try-targets';
import { type ClaimedCall, extendCall } from '#lib/gateway/flow/call/call';
import { chargeCall, closedEarly } from '#lib/gateway/flow/call/charge-call';
import { endCall } from '#lib/gateway/flow/call/end-call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import type { GoneWatch } from '#lib/gateway/flow/steps/client-gone';

/** The only outside call: the plan's targets in order, until one answers (contract: routing/next-target). */
export async function attemptTargets(
  runtime: Runtime,
  call: ClaimedCall,
  client: Pick<GoneWatch, 'await' | 'opened' | 'underway'>,
): Promise<GivenAnswer> {
  client.await(call);
  const { answer, last, shortage, limitedMs } = await tryTargets(runtime, call, client);
  if (shortage !== null) runtime.report(shortage, call.id);
  if (!answer && shortage !== null) throw outOf(call, shortage);
  if (!answer && last === null && limitedMs !== null) throw atLimit(call, limitedMs);
  if (!answer) throw noAnswer(runtime, call, last);
  if (client.opened && answer.reading?.framing !== 'events') {
    // Its client has a stream already, which no status and no JSON can follow.
    answer.running?.abandoned(runtime.clock.now());
    answer.exchange.abort(new Error('its client has a stream already'));
    answer.translated?.abandon();
    throw noAnswer(runtime, call, last);
  }
  call.outcome.leadMs = answer.beganMono - call.startMono - answer.failedMs;
  const redirected = call.operation.download === 'redirected';
  if (!redirected) return answer;
  return { ...(await followRedirects(runtime, call, client, answer)), translated: null };
}

/** This machine could not even ask: a refusal, since no provider failed (contract: call-log/machine-faults). */
function outOf(call: ClaimedCall, shortage: Error): Refused {
  call.outcome.upstreamMs = call.outcome.attempts.reduce((sum, one) => sum + one.durationMs, 0);
  return new Refused(unaccountable('cannot reach providers', shortage));
}

/** No attempt was made: all credentials that could serve the call are at their own limits (contract: limits/credentials). */
function atLimit({ ask }: ClaimedCall, waitMs: number): Refused {
  const retryAfterSeconds = Math.min(60, Math.max(1, Math.ceil(waitMs / 1000)));
  return new Refused(
    refusal(
      'provider_limit_exceeded',
      `The gateway has reached the limits of its accounts at the providers of ${ask.model || 'this'}. ${retryIn(retryAfterSeconds)}`,
      { retryAfterSeconds },
    ),
  );
}

/** No attempt got an answer: how the call ends, and what its client gets. */
function noAnswer(runtime: Runtime, call: ClaimedCall, last: Tries['last']): Refused {
  call.outcome.upstreamMs = call.outcome.attempts.reduce((sum, one) => sum + one.durationMs, 0);
  const failure = call.outcome.attempts.at(-1)?.error ?? '';
  endCall(call, { by: 'failure', name: failure });
  if (call.outcome.gone && last) {
    const answered = extendCall(call, { target: last.target });
    // An attempt that failed at the provider is free, whether or not the client was still waiting.
    const closed = failure === 'client_gone';
    chargeCall(answered, null, closed ? closedEarly(runtime, answered, last.exchange) : { end: 'broken' });
  }
  // One that was repeated, and failed the same way again, is named once.
  const causes = new Set(call.outcome.attempts.map((one) => `${one.provider}: ${one.error ?? one.status}`));
  const told = [...causes].join(', ');
  return new Refused(
    refusal('upstream_request_failed', `No provider answered (${told}); retry with backoff.`),
  );
}
