import { hash } from 'node:crypto';
import { Redis as RestRedis } from '@upstash/redis';
import { Redis } from 'ioredis';
import type { Env } from '#lib/platform/env/env';
import type { ThrottleRedis } from '#lib/platform/throttle/shared';

/**
 * Opens a connection for throttles only.
 * @param onError called for broken connections; each command also fails.
 * @param patienceMs how long it may take to connect, and each command.
 */
export function openRedis(
  to: NonNullable<Env['redis']>,
  onError: (error: unknown) => void,
  patienceMs: number,
) {
  if (to.kind === 'rest') return { redis: restRedis(to), close: () => undefined };
  const client = new Redis(to.url, {
    lazyConnect: true,
    connectTimeout: patienceMs,
    commandTimeout: patienceMs,
    maxRetriesPerRequest: 0,
    // What cannot be asked now is counted by the process itself.
    enableOfflineQueue: true,
    retryStrategy: (times) => Math.min(times * 200, 5_000),
  });
  client.on('error', onError);
  return { redis: tcpRedis(client), close: () => client.disconnect() };
}

function restRedis({ url, token }: { url: string; token: string }): ThrottleRedis {
  return new RestRedis({ url, token, retry: { retries: 0 }, enableTelemetry: false });
}

/** Redis refuses a script with this flag, which only Upstash's server knows. */
const upstashFlag = /^#!lua flags=allow-key-locking\n/;

/**
 * The four commands that @upstash/ratelimit sends, in its own shape. Its types promise whatever a script answers;
 * Lua answers numbers and lists of them, which ioredis hands on as they are.
 */
function tcpRedis(client: Redis): ThrottleRedis {
  const words = (values: readonly unknown[]) =>
    values.map((value) => (value === null || value === undefined ? '' : String(value)));
  const commands = {
    // By the hash of a script that Redis would not take: `eval` follows, and sends the hash of the one that it takes.
    evalsha: async () => {
      throw new Error('NOSCRIPT');
    },
    eval: async (script: string, keys: string[], args: unknown[]) => {
      const plain = script.replace(upstashFlag, '');
      const given = [keys.length, ...keys, ...words(args)] as const;
      const known = await client.evalsha(hash('sha1', plain), ...given).catch((error: unknown) => {
        if (String(error).includes('NOSCRIPT')) return missing;
        throw error;
      });
      return known === missing ? client.eval(plain, ...given) : known;
    },
    get: (key: string) => client.get(key),
    set: (key: string, value: string, options?: { ex?: number }) =>
      options?.ex ? client.set(key, value, 'EX', options.ex) : client.set(key, value),
  };
  return commands as ThrottleRedis;
}

const missing = Symbol('a script that Redis does not have');
