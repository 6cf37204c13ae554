import type { ModelFacts, Policy } from '#lib/core/facts/snapshot';
import type { Ask } from '#lib/core/families/family';
import type { TimeLimits } from '#lib/gateway/routing/pure/target';

/** Time limits of a call's attempts: the policy's, else the defaults (contract: routing/time-limits). */
export function timeLimitsOf(policy: Policy, { operation, stream }: Ask): TimeLimits {
  // Who gives up waiting for a cache would not pay for it, but the provider may keep it.
  const set = operation.caches ? undefined : policy.timeouts;
  const whole = operation.wholeMs ?? (operation.steps === 'generate' ? 600_000 : 60_000);
  return {
    connectMs: set?.connectMs ?? 5_000,
    firstByteMs: stream ? (set?.firstByteMs ?? 120_000) : (set?.firstByteWholeMs ?? whole),
    firstWordMs: set?.firstWordMs ?? null,
    idleMs: set?.idleMs ?? null,
    totalMs: set?.totalMs ?? 3_600_000,
    holdMs: set?.holdMs ?? 5_000,
  };
}

/** Time limits of one attempt, ms. */
export type AttemptLimits = TimeLimits & { readonly firstWordMs: number; readonly idleMs: number };

/** The limits of an attempt at a model: one with hidden reasoning may think in silence for longer. */
export function limitsOfModel(limits: TimeLimits, model: Pick<ModelFacts, 'reasoning'>): AttemptLimits {
  return {
    ...limits,
    firstWordMs: limits.firstWordMs ?? (model.reasoning ? limits.totalMs : 600_000),
    idleMs: limits.idleMs ?? (model.reasoning ? 600_000 : 300_000),
  };
}
