import type { Dispatcher } from 'undici';

/** One connection pool per origin of a provider. */
export interface Pools {
  /** @param connectMs time limit for a new connection. */
  for(origin: string, connectMs: number): Dispatcher;
  close(): Promise<void>;
}
