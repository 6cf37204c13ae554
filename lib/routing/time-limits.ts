import type { Ask } from '#lib/families/family';
import type { TimeLimits } from '#lib/routing/target';
import type { Policy } from '#lib/snapshot/snapshot';

/** Time limits of a call's attempts: the policy's, else the defaults (contract: routing/time-limits). */
export function timeLimitsOf(policy: Policy, { operation, stream }: Ask): TimeLimits {
  const set = policy.timeouts;
  const whole = operation.wholeMs ?? (operation.steps === 'generate' ? 600_000 : 60_000);
  return {
    connectMs: set?.connectMs ?? 5_000,
    firstByteMs: stream ? (set?.firstByteMs ?? 120_000) : (set?.firstByteWholeMs ?? whole),
    idleMs: set?.idleMs ?? 300_000,
    totalMs: set?.totalMs ?? 3_600_000,
  };
}
