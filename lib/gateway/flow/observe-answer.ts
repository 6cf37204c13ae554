import { meteredUsage } from '#lib/core/metering/anomaly';
import { type AnsweredCall, conversationOf } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { healthIdOf } from '#lib/gateway/routing/pure/pool';
import type { Exchange } from '#lib/gateway/upstream/exchange';

/** Above this share of time spent waiting for a slow client, an answer does not count for its offer's speed. */
const MOST_PAUSED = 0.1;

/**
 * Updates routing and estimates from an answer that was read to its end: the offer's output speed (tokens with
 * reasoning ÷ the time from sent to end) (contract: money/observed-speed), the cached share of its input, and which
 * provider now holds the conversation's prompt cache. An answer that waited for a slow client does not count for the
 * speed.
 */
export function observeAnswer(runtime: Runtime, call: AnsweredCall, exchange: Exchange): void {
  const { target, ask, snapshot } = call;
  const ended = call.outcome.endReason === 'completed' || call.outcome.endReason === 'client_gone';
  if (call.outcome.charge.usageSource !== 'reported' || !ended) return;
  const { workedMs, pausedMs } = exchange;
  const nowMs = runtime.clock.now();
  const usage = meteredUsage(call.outcome.charge);
  const cached = usage.cachedInput;
  runtime.health.measured(
    healthIdOf(target.offer, target.credential),
    {
      outputTokens: pausedMs > workedMs * MOST_PAUSED ? 0 : usage.output,
      tookMs: workedMs,
      inputTokens: usage.input + cached + usage.cacheWrite5m + usage.cacheWrite1h,
      cachedTokens: cached,
    },
    nowMs,
  );
  const conversation = conversationOf(call);
  if (conversation === null || target.model.id !== ask.model) return;
  runtime.holders.remember(
    { workspaceId: snapshot.workspace.id, model: ask.model, name: conversation },
    { providerId: target.offer.provider.id, credential: target.credential.name },
    nowMs,
  );
}
