import { Refused } from '#lib/core/errors';
import {
  type AskedCall,
  conversationOf,
  extendCall,
  type PlannedCall,
  refusesTranslation,
  type StoredCall,
} from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { type PlacedPlanInput, planPlaced } from '#lib/gateway/routing/plan-placed';
import { planStored } from '#lib/gateway/routing/plan-stored';
import { plan } from '#lib/gateway/routing/pure/plan';
import { ClientRequest } from '#lib/gateway/translation/pure/client-request';

/**
 * Where the call may go. A plan without targets keeps its refusal, which is answered only after admission
 * (contract: admission/claim), except if no offer can do what the request asks (contract: admission/abilities). `X-No-Fallback: true` leaves one target (contract: routing/no-fallback), and so does
 * what a provider keeps.
 */
export function planCall(runtime: Runtime, call: AskedCall): PlannedCall {
  const { ask, snapshot, family } = call;
  const catalogue = runtime.catalogue();
  const conversation = conversationOf(call);
  const nowMs = runtime.clock.now();
  const clientRequest = ClientRequest.of(family.id, ask);
  const planned = plan({
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
        : runtime.holders.find(
            { workspaceId: snapshot.workspace.id, model: ask.model, name: conversation },
            nowMs,
          ),
    noTranslation: refusesTranslation(call),
    untranslatable: (target) => clientRequest?.misfit(target) ?? null,
    noFallback: call.arrival.headers['x-no-fallback']?.trim().toLowerCase() === 'true',
  });
  if (planned.unable && planned.failure) throw new Refused(planned.failure);
  return extendCall(call, { plan: planned, catalogue, clientRequest });
}

/** Where a call goes that has a provider store something and names no model (contract: routing/no-model). */
export function planPlacedCall(
  runtime: Runtime,
  call: AskedCall,
  lines?: PlacedPlanInput['lines'],
): PlannedCall {
  const { ask, snapshot, family, arrival, operation } = call;
  const { stores } = operation;
  if (!stores) throw new Error(`${operation.name} has no provider store anything new`);
  const catalogue = runtime.catalogue();
  const planned = planPlaced({
    ask,
    family: family.id,
    stores: lines && stores === 'files' ? 'batches' : stores,
    ...(lines ? { lines } : {}),
    named: arrival.headers['x-provider']?.trim() || null,
    pinned: call.pinned,
    catalogue,
    snapshot,
    healthOf: runtime.health.of,
    callId: call.id,
    nowMs: runtime.clock.now(),
  });
  return extendCall(call, { plan: planned, catalogue });
}

/** Where a call about something that a provider keeps goes: to that provider. */
export function planStoredCall<Stage extends AskedCall & StoredCall>(
  runtime: Runtime,
  call: Stage,
): Stage & PlannedCall {
  const { ask, resource, snapshot } = call;
  const catalogue = runtime.catalogue();
  const planned = planStored({ ask, resource, snapshot, catalogue });
  return extendCall(call, { plan: planned, catalogue });
}
