import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { messageOf } from '#lib/core/errors';
import type { FollowedFleet } from '#lib/gateway/limits/limit-queue';
import type { Fleet } from '#lib/gateway/limits/pure/limits';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import { processName, SharedLimits } from '#lib/gateway/limits/shared-limits';
import { postgresqlStore } from '#lib/gateway/limits/store/postgresql';
import type { Clock } from '#lib/platform/clock';
import type { Db } from '#lib/platform/data/db';
import type { Env } from '#lib/platform/env/env';

interface Parts {
  readonly env: Env;
  readonly db: Db;
  readonly ownerId: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Used instead of the configured store: one by the clock of a simulation. */
  readonly limitStore?: LimitStore | undefined;
  report(error: unknown, callId: null): void;
}

/**
 * The limits that this process shares with others. It must be an owner before `start`: the others count it from then.
 * @returns null if only this process counts.
 */
export async function openSharedLimits(parts: Parts): Promise<SharedLimits | null> {
  const { env, db, ownerId, clock, log } = parts;
  const report = (error: unknown) => parts.report(error, null);
  const quiet = (error: unknown) => log.debug({ reason: messageOf(error) }, 'limit store');
  const store =
    parts.limitStore ?? (await openLimitStore(env, db.pool.options.connectionString ?? null, quiet));
  if (!store) return null;
  const fleet = createFleet(db.pool, ownerId, report);
  return new SharedLimits({
    clock,
    store,
    report,
    fleet,
    process: processName(ownerId),
    onLost: (error) => {
      const { processes } = fleet.now();
      const text = 'the store of limits is away: this process admits its share of each limit';
      log.warn({ store: store.name, reason: messageOf(error), processes }, text);
    },
    onBack: () => log.warn({ store: store.name }, 'the store of limits answers again'),
  });
}

/** How long a call may wait for Redis before its process decides by itself; ms (contract: limits/store-away). */
const REDIS_MS = 50;
/** The same for PostgreSQL, whose transactions wait for one another. */
const POSTGRESQL_MS = 500;

/**
 * Where the limits of this process are counted (contract: limits/stores): on Redis or Upstash when one is configured,
 * else in PostgreSQL, which other processes may use as well. The clients of Redis are loaded only if it is used.
 * @param databaseUrl also of an embedded database that several processes share.
 * @returns null on the embedded database of one process: it counts in memory.
 */
export async function openLimitStore(
  env: Pick<Env, 'redis' | 'databaseUrl' | 'workers'>,
  databaseUrl: string | null,
  onError: (error: unknown) => void,
): Promise<LimitStore | null> {
  const { redis } = env;
  if (redis) {
    const { redisStore, upstashStore } = await import('#lib/gateway/limits/store/redis');
    const options = { patienceMs: REDIS_MS, onError };
    return redis.kind === 'tcp' ? redisStore(redis.url, options) : upstashStore(redis, options);
  }
  const alone = env.databaseUrl === null && env.workers === 1;
  if (alone || databaseUrl === null) return null;
  return postgresqlStore(databaseUrl, { patienceMs: POSTGRESQL_MS, onError });
}

const READ_MS = 10_000;

/**
 * Follows which processes live, by their heartbeats in PostgreSQL: a store of limits that is away could not say.
 * @param ownerId of this process.
 */
function createFleet(pool: Pool, ownerId: string, report: (error: unknown) => void): FollowedFleet {
  let fleet: Fleet = { processes: 1, rank: 0 };
  let timer: NodeJS.Timeout | null = null;
  const read = async () => {
    const { rows } = await pool.query<{ processes: string; rank: string }>(
      `SELECT count(*) AS processes, count(*) FILTER (WHERE id < $1::uuid) AS rank
       FROM owner WHERE expires_at > now() OR id = $1::uuid`,
      [ownerId],
    );
    const [row] = rows;
    if (row) fleet = { processes: Math.max(1, Number(row.processes)), rank: Number(row.rank) };
  };
  return {
    now: () => fleet,
    start: async () => {
      await read();
      timer = setInterval(() => void read().catch(report), READ_MS);
      timer.unref();
    },
    stop: () => {
      if (timer) clearInterval(timer);
    },
  };
}
