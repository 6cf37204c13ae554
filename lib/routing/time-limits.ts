import type { Ask } from '#lib/families/family';
import type { TimeLimits } from '#lib/routing/target';
import type { FamilyId, Policy } from '#lib/snapshot/snapshot';

/** Time limits of a call's attempts: the policy's, else the defaults (contract: routing/time-limits). */
export function timeLimitsOf(policy: Policy, ask: Ask, family: FamilyId): TimeLimits {
  const set = policy.timeouts;
  const whole = ask.operation.steps !== 'generate' ? 60_000 : family === 'images' ? 300_000 : 600_000;
  return {
    connectMs: set?.connectMs ?? 5_000,
    firstByteMs: ask.stream ? (set?.firstByteMs ?? 120_000) : (set?.firstByteWholeMs ?? whole),
    idleMs: set?.idleMs ?? 300_000,
    totalMs: set?.totalMs ?? 3_600_000,
  };
}
