import type { Env } from '#lib/env';
import type { LimitStore } from '#lib/limits/permit-request';
import { postgresqlStore } from '#lib/limits/store/postgresql';
import { redisStore } from '#lib/limits/store/redis';
import { upstashStore } from '#lib/limits/store/upstash';

/** How long a call may wait for Redis before its process decides alone; ms (contract: limits/store-away). */
const REDIS_MS = 50;
/** The same for PostgreSQL, whose transactions wait for one another. */
const POSTGRESQL_MS = 500;

/**
 * Where the limits of this process are counted (contract: limits/stores): on Redis or Upstash when one is configured,
 * else in PostgreSQL, which other processes may use without telling.
 * @param databaseUrl also of the embedded database where several processes share it.
 * @returns null on the embedded database of one process: it counts in memory.
 */
export function openLimitStore(
  env: Pick<Env, 'redis' | 'databaseUrl' | 'workers'>,
  databaseUrl: string | null,
  onError: (error: unknown) => void,
): LimitStore | null {
  const { redis } = env;
  if (redis?.kind === 'tcp') return redisStore(redis.url, { patienceMs: REDIS_MS, onError });
  if (redis) return upstashStore(redis, { patienceMs: REDIS_MS });
  const alone = env.databaseUrl === null && env.workers === 1;
  if (alone || databaseUrl === null) return null;
  return postgresqlStore(databaseUrl, { patienceMs: POSTGRESQL_MS, onError });
}
