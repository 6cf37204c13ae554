import { hash } from 'node:crypto';
import { Redis as UpstashRedis } from '@upstash/redis';
import { Redis } from 'ioredis';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import { keysOf, limitScript, readAnswer, redisClock } from '#lib/gateway/limits/store/script';

/** What a store on Redis may be given. */
export interface RedisStoreOptions {
  /** How long a call may wait for it, ms. */
  readonly patienceMs: number;
  /** Errors of the connection, which no permit request waits for. */
  onError(error: Error): void;
  /** Tests only: the script's clock, and the value that it reads as ARGV[2]. */
  readonly clock?: { readonly script: string; nowText(): string };
}

/** How long connecting may take, ms. */
const CONNECT_MS = 1_000;
/** An answer over HTTP that has not come by then never will; ms. */
const REQUEST_MS = 2_000;

/** Shared limits in a Redis that is reached by its own protocol (`REDIS_URL`). */
export function redisStore(url: string, options: RedisStoreOptions): LimitStore {
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
    ...storeOf('Redis', options, {
      evalsha: (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
      eval: (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
    }),
    reconnect: () => {
      if (client.status === 'ready' || client.status === 'connect') client.disconnect(true);
    },
    close: async () => client.disconnect(),
  };
}

/** Shared limits in a Redis that is reached by REST, as Upstash serves it. */
export function upstashStore(
  { url, token }: { readonly url: string; readonly token: string },
  options: Omit<RedisStoreOptions, 'onError'>,
): LimitStore {
  const client = new UpstashRedis({
    url,
    token,
    // By default it sends a command whose answer was lost five times more.
    retry: { retries: 0 },
    enableTelemetry: false,
    automaticDeserialization: false,
    signal: () => AbortSignal.timeout(REQUEST_MS),
  });
  return storeOf('Upstash', options, client);
}

type Evaluate = (script: string, keys: string[], args: string[]) => Promise<unknown>;

function storeOf(
  name: string,
  { patienceMs, clock }: Omit<RedisStoreOptions, 'onError'>,
  client: { readonly evalsha: Evaluate; readonly eval: Evaluate },
): LimitStore {
  const script = limitScript(clock?.script ?? redisClock);
  const sha = hash('sha1', script);
  return {
    name,
    patienceMs,
    async carryOut(request) {
      const keys = keysOf(request);
      const args = [JSON.stringify(request), ...(clock ? [clock.nowText()] : [])];
      const answer = await client.evalsha(sha, keys, args).catch((error: unknown) => {
        // A Redis that was restarted or failed over has no scripts: then the whole text is sent, once.
        if (error instanceof Error && error.message.includes('NOSCRIPT'))
          return client.eval(script, keys, args);
        throw error;
      });
      return readAnswer(String(answer));
    },
    reconnect: () => undefined,
    sweep: async () => undefined,
    close: async () => undefined,
  };
}
