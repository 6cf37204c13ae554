import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import { postgresqlStore } from '#lib/gateway/limits/store/postgresql';
import type { Env } from '#lib/platform/env/env';

/** How long a call may wait for Redis before its process decides alone; ms (contract: limits/store-away). */
const REDIS_MS = 50;
/** The same for PostgreSQL, whose transactions wait for one another. */
const POSTGRESQL_MS = 500;

/**
 * Where the limits of this process are counted (contract: limits/stores): on Redis or Upstash when one is configured,
 * else in PostgreSQL, which other processes may use without telling. A client of Redis is loaded only where it is used.
 * @param databaseUrl also of the embedded database where several processes share it.
 * @returns null on the embedded database of one process: it counts in memory.
 */
export async function openLimitStore(
  env: Pick<Env, 'redis' | 'databaseUrl' | 'workers'>,
  databaseUrl: string | null,
  onError: (error: unknown) => void,
): Promise<LimitStore | null> {
  const { redis } = env;
  if (redis?.kind === 'tcp') {
    const { redisStore } = await import('#lib/gateway/limits/store/redis');
    return redisStore(redis.url, { patienceMs: REDIS_MS, onError });
  }
  if (redis) {
    const { upstashStore } = await import('#lib/gateway/limits/store/upstash');
    return upstashStore(redis, { patienceMs: REDIS_MS });
  }
  const alone = env.databaseUrl === null && env.workers === 1;
  if (alone || databaseUrl === null) return null;
  return postgresqlStore(databaseUrl, { patienceMs: POSTGRESQL_MS, onError });
}
