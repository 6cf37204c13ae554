import type { Env } from '#lib/env';

/** A setting that this version reads and checks, but has nothing behind yet. */
export interface Pending {
  readonly setting: string;
  /** What happens instead. */
  readonly instead: string;
}

type Given = Pick<Env, 'workers' | 'redis'>;

/** The given settings that have no effect in this version: the start warns about them. */
export function pendingSettings(env: Given): readonly Pending[] {
  const found: (Pending | false)[] = [
    env.workers > 1 && {
      setting: 'WORKERS',
      instead:
        'its processes serve, but limits are not shared yet: RPM, TPM and concurrency count in each of them alone, so that N workers admit up to N times as much; balances and spend caps hold for all together',
    },
    env.redis !== null && {
      setting: env.redis.kind === 'tcp' ? 'REDIS_URL' : 'UPSTASH_REDIS_REST_URL',
      instead:
        'limits are not shared yet: RPM, TPM and concurrency count in each process alone, so that N processes admit up to N times as much; balances and spend caps hold for all together',
    },
  ];
  return found.filter((one) => one !== false);
}
