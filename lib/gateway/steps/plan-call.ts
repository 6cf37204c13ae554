import type { Call } from '#lib/gateway/call';
import type { Runtime } from '#lib/gateway/runtime';
import { plan } from '#lib/routing/plan';

/**
 * Where the call may go. Pure; a plan without targets keeps its refusal, which is answered only after
 * admission, as decisions §3 orders.
 */
export function planCall(runtime: Runtime, call: Call): void {
  const { ask, snapshot, family } = call;
  if (!ask || !snapshot || !family) return;
  call.plan = plan({
    ask,
    family: family.id,
    snapshot,
    catalogue: runtime.catalogue(),
    healthOf: (offerId) => runtime.health.of(offerId, call.startMs),
    callId: call.id,
    nowMs: call.startMs,
  });
}
