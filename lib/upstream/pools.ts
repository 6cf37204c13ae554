import { type Dispatcher, Pool } from 'undici';

/** One connection pool per origin of a provider. */
export interface Pools {
  /** @param connectMs time limit for a new connection, ms. */
  for(origin: string, connectMs: number): Dispatcher;
  close(): Promise<void>;
}

/**
 * Pools without undici's own time limits: the exchange keeps first-byte, idle and total time itself
 * (decisions §12), exact to the millisecond.
 */
export function createPools(): Pools {
  const pools = new Map<string, Pool>();
  return {
    for: (origin, connectMs) => {
      const name = `${origin} ${connectMs}`;
      const known = pools.get(name);
      if (known) return known;
      const made = new Pool(origin, {
        pipelining: 1,
        headersTimeout: 0,
        bodyTimeout: 0,
        keepAliveTimeout: 30_000,
        connect: { timeout: connectMs },
        maxHeaderSize: 64 * 1024,
      });
      pools.set(name, made);
      return made;
    },
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}
