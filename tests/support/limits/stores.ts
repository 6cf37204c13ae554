import { Client } from 'pg';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import { postgresqlStore } from '#lib/gateway/limits/store/postgresql';
import { redisStore, upstashStore } from '#lib/gateway/limits/store/redis';
import { createDatabase } from '#tests/support/database';
import { startRedis, startRest, type TestRedis } from '#tests/support/redis/server';

/** Real stores of limits, each on the test's own server. */
export interface Stores {
  readonly redis: TestRedis;
  readonly restUrl: string;
  readonly databaseUrl: string;
  /** @param nowMs the store's clock; default: its server's. */
  open(kind: StoreKind, nowMs?: () => number, patienceMs?: number): LimitStore;
  readonly errors: unknown[];
  /** Runs a statement in the database of limits. */
  query(text: string): Promise<unknown>;
  close(): Promise<void>;
}

export const storeKinds = ['Redis', 'Upstash', 'PostgreSQL'] as const;
type StoreKind = (typeof storeKinds)[number];

export const restToken = 'token';
/** The machine may be busy: no store counts as late here. */
const unhurriedMs = 60_000;

export async function startStores(): Promise<Stores> {
  const [redis, database] = await Promise.all([startRedis(), createDatabase()]);
  const rest = await startRest(redis.url, restToken);
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const opened: LimitStore[] = [];
  const openOne = (kind: StoreKind, nowMs: (() => number) | undefined, patienceMs: number): LimitStore => {
    if (kind === 'PostgreSQL') {
      const clock = nowMs ? { clock: () => `${nowMs()}` } : {};
      return postgresqlStore(database.url, { patienceMs, onError, ...clock });
    }
    const clock = nowMs
      ? {
          clock: {
            script: 'local now = tonumber(ARGV[2])',
            nowText: () => `${Math.round(nowMs() * 1000)}`,
          },
        }
      : {};
    return kind === 'Redis'
      ? redisStore(redis.url, { patienceMs, onError, ...clock })
      : upstashStore({ url: rest.url, token: restToken }, { patienceMs, ...clock });
  };
  return {
    redis,
    restUrl: rest.url,
    databaseUrl: database.url,
    errors,
    open: (kind, nowMs, patienceMs = unhurriedMs) => {
      const store = openOne(kind, nowMs, patienceMs);
      opened.push(store);
      return store;
    },
    query: async (text) => {
      const client = new Client({ connectionString: database.url });
      await client.connect();
      await client.query(text).finally(() => client.end());
    },
    close: async () => {
      for (const store of opened) await store.close().catch(() => undefined);
      await rest.close();
      await redis.close();
      await database.drop();
    },
  };
}
