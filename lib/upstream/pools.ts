import { type Dispatcher, Pool } from 'undici';

/** One connection pool per origin of a provider. */
export interface Pools {
  /** @param connectMs time limit for a new connection, ms. */
  for(origin: string, connectMs: number): Dispatcher;
  close(): Promise<void>;
}

/**
 * Pools without undici's own time limits: the exchange keeps first-byte, idle and total time itself
 * (contract: routing/pooled-connections).
 */
export function createPools(): Pools {
  const pools = new Map<string, Map<number, Pool>>();
  return {
    for: (origin, connectMs) => {
      const known = pools.get(origin)?.get(connectMs);
      if (known) return known;
      const made = new Pool(origin, {
        pipelining: 1,
        headersTimeout: 0,
        bodyTimeout: 0,
        keepAliveTimeout: 30_000,
        connect: { timeout: connectMs },
        maxHeaderSize: 64 * 1024,
      });
      const here = pools.get(origin) ?? new Map<number, Pool>();
      pools.set(origin, here.set(connectMs, made));
      return made;
    },
    close: async () => {
      const all = [...pools.values()].flatMap((here) => [...here.values()]);
      await Promise.all(all.map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}
