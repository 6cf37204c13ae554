import { type Call, conversationOf } from '#lib/gateway/call';
import type { Runtime } from '#lib/gateway/runtime';
import { plan } from '#lib/routing/plan';
import { planStored } from '#lib/routing/plan-stored';

/**
 * Where the call may go. Pure; a plan without targets keeps its refusal, which is answered only after admission
 * (contract: admission/claim). `X-No-Fallback: true` leaves one target (contract: routing/no-fallback), and so does
 * what a provider keeps.
 */
export function planCall(runtime: Runtime, call: Call): void {
  const { ask, snapshot, family, resource } = call;
  if (!ask || !snapshot || !family) return;
  const catalogue = runtime.catalogue();
  call.catalogue = catalogue;
  if (resource && ask.operation.steps === 'stored') {
    const { policies } = snapshot;
    call.plan = planStored({ ask, resource, policies, catalogue });
    return;
  }
  const conversation = conversationOf(call);
  const nowMs = runtime.clock.now();
  call.plan = plan({
    ask,
    family: family.id,
    snapshot,
    catalogue,
    healthOf: runtime.health.of,
    callId: call.id,
    nowMs,
    pinned: call.pinned,
    holder:
      conversation === null
        ? null
        : runtime.holders.find(snapshot.workspace.id, ask.model, conversation, nowMs),
    noFallback: call.arrival.headers['x-no-fallback']?.trim().toLowerCase() === 'true',
  });
}
