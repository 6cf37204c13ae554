import type { Ask, Family } from '#lib/core/families/family';
import { type AnsweredCall, extendCall, openCall, type PlannedCall } from '#lib/gateway/flow/call/call';
import type { Arrival } from '#lib/gateway/flow/lane';
import { unconfiguredRuntime } from '#lib/gateway/flow/unconfigured';
import type { Plan, Target, TimeLimits } from '#lib/gateway/routing/pure/target';
import { catalogueOf, snapshotOf } from '#tests/unit/routing/make';

const arrival: Arrival = {
  method: 'POST',
  target: '/v1/anything',
  headers: {},
  body: {
    large: () => false,
    free: () => {},
    read: async () => Buffer.from(''),
    pour: async () => {},
    onRelease: () => {},
    drop: () => {},
  },
  onGone: () => {},
};

const minute = 60_000;
const limits: TimeLimits = {
  connectMs: minute,
  firstByteMs: minute,
  firstWordMs: minute,
  idleMs: minute,
  totalMs: minute,
  holdMs: minute,
};

/** A call whose way is planned. @param firstByteMs how long each provider is waited for. */
export function plannedCall(
  family: Family,
  ask: Ask,
  targets: Plan['targets'],
  firstByteMs = minute,
): PlannedCall {
  return extendCall(openCall(unconfiguredRuntime(), arrival), {
    operation: ask.operation,
    family,
    snapshot: snapshotOf(),
    ask,
    plan: { targets, attempts: 4, timeLimits: { ...limits, firstByteMs }, failure: null, unable: false },
    catalogue: catalogueOf(...targets.map(({ model }) => model)),
  });
}

/** A call that `target` answers; nothing is paid for it. */
export function answeredCall(family: Family, ask: Ask, target: Target): AnsweredCall {
  const call = plannedCall(family, ask, [target]);
  const { key, workspace } = call.snapshot;
  const claim = {
    callId: call.id,
    workspaceId: workspace.id,
    keyId: key.id,
    admittedAtMs: call.startMs,
    holdNano: 0n,
    tokens: 0,
    funding: 'none',
    simulated: false,
    numbers: { requests: null, tokens: null },
  } as const;
  return extendCall(call, { claim, target });
}
