import { hash } from 'node:crypto';
import { Redis } from 'ioredis';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import { limitScript, redisClock } from '#lib/gateway/limits/store/script';
import { decodeAnswer, encodePermitRequest, keysOf } from '#lib/gateway/limits/store/wire';

/** What a store on Redis may be given. */
export interface RedisStoreOptions {
  /** How long a call may wait for it, ms. */
  readonly patienceMs: number;
  /** Errors of the connection, which no ask waits for. */
  onError(error: Error): void;
  /** Tests alone: the script's clock, and the value that it reads as ARGV[2]. */
  readonly clock?: { readonly script: string; nowText(): string };
}

/** How long connecting may take, ms. */
const CONNECT_MS = 1_000;

/** Shared limits in a Redis that is reached by its own protocol (`REDIS_URL`). */
export function redisStore(url: string, options: RedisStoreOptions): LimitStore {
  const script = limitScript(options.clock?.script ?? redisClock);
  const sha = hash('sha1', script);
  const client = new Redis(url, {
    connectTimeout: CONNECT_MS,
    // A permit request waits for the first connection; while there is none, it fails with the next attempt.
    enableOfflineQueue: true,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(times * 100, 1_000),
  });
  client.on('error', options.onError);
  return {
    name: 'Redis',
    patienceMs: options.patienceMs,
    async carryOut(ask) {
      const keys = keysOf(ask);
      const given = [keys.length, ...keys, encodePermitRequest(ask), ...nowOf(options)] as const;
      const known = await client.evalsha(sha, ...given).catch(unlessMissing);
      return decodeAnswer(String(known === missing ? await client.eval(script, ...given) : known));
    },
    reconnect: () => {
      if (client.status === 'ready' || client.status === 'connect') client.disconnect(true);
    },
    sweep: async () => undefined,
    close: async () => client.disconnect(),
  };
}

/** @internal */
export function nowOf({ clock }: Pick<RedisStoreOptions, 'clock'>): string[] {
  return clock ? [clock.nowText()] : [];
}

export const missing = Symbol('a script that Redis does not have');

/** A Redis that was restarted or failed over has no scripts: then the whole text is sent, once. */
export function unlessMissing(error: unknown): typeof missing {
  if (error instanceof Error && error.message.includes('NOSCRIPT')) return missing;
  throw error;
}
