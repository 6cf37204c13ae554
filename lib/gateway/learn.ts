import { type Call, conversationOf } from '#lib/gateway/call';
import type { Runtime } from '#lib/gateway/runtime';

/**
 * What a finished answer teaches routing: how fast its offer writes, how much of the input it had in its
 * cache, and that this provider now holds the conversation's prompt cache.
 * @param events whether it came as an event stream: writing is then timed from the first byte.
 */
export function learn(runtime: Runtime, call: Call, events: boolean): void {
  const { target, ask, snapshot, usage } = call;
  if (!target || call.usageSource !== 'reported' || call.endReason !== 'completed') return;
  const beganMono = events && call.firstByteMono !== null ? call.firstByteMono : call.beganMono;
  const nowMs = runtime.clock.now();
  const cached = usage.cachedInput;
  runtime.health.measured(
    target.offer.id,
    {
      outputTokens: usage.output,
      tookMs: runtime.clock.mono() - beganMono,
      inputTokens: usage.input + cached + usage.cacheWrite5m + usage.cacheWrite1h,
      cachedTokens: cached,
    },
    nowMs,
  );
  const conversation = conversationOf(call);
  if (conversation === null || !ask || !snapshot || target.model.id !== ask.model) return;
  runtime.holders.remember(snapshot.workspace.id, ask.model, conversation, target.offer.provider.id, nowMs);
}
