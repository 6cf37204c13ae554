import { Refused, refusal } from '#lib/core/errors';
import { outgoing } from '#lib/gateway/flow/attempt/outgoing';
import type { PlannedCall } from '#lib/gateway/flow/call/call';
import { endCall } from '#lib/gateway/flow/call/end-call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import type { GoneWatch } from '#lib/gateway/flow/steps/client-gone';
import { limitsOfModel } from '#lib/gateway/routing/pure/time-limits';
import type { Answer } from '#lib/gateway/upstream/attempt';
import { follow } from '#lib/gateway/upstream/follow';
import { failureName } from '#lib/gateway/upstream/pure/classify';

/**
 * The answer behind a provider's redirects; they belong to its attempt.
 * @throws Refused `upstream_request_failed` when they lead nowhere.
 */
export async function followRedirects(
  runtime: Runtime,
  call: PlannedCall,
  client: Pick<GoneWatch, 'underway'>,
  answer: Answer,
): Promise<Answer> {
  const { target } = answer;
  const attempt = call.outcome.attempts.pop();
  const close = (status: number | null, error: string | null) => {
    const durationMs = Math.round(runtime.clock.mono() - answer.beganMono);
    if (attempt) call.outcome.attempts.push({ ...attempt, status, error, durationMs });
  };
  try {
    const exchange = await follow(runtime.pools, answer.exchange, {
      address: target.address,
      own: Boolean(target.credential.own?.address),
      headers: outgoing(call, target).headers,
      timeLimits: limitsOfModel(call.plan.timeLimits, target.model),
      underway: (next) => client.underway(next, 'abort'),
    });
    close(exchange.status, null);
    return { ...answer, exchange };
  } catch (error) {
    const name = failureName(error);
    close(null, name);
    call.outcome.upstreamMs = runtime.clock.mono() - answer.beganMono;
    endCall(call, { by: 'failure', name });
    throw new Refused(
      refusal(
        'upstream_request_failed',
        `The provider's redirects for this file could not be followed (${name}); retry with backoff.`,
      ),
    );
  }
}
