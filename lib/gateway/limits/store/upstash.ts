import { hash } from 'node:crypto';
import { Redis } from '@upstash/redis';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import { missing, nowOf, type RedisStoreOptions, unlessMissing } from '#lib/gateway/limits/store/redis';
import { limitScript, redisClock } from '#lib/gateway/limits/store/script';
import { decodeAnswer, encodePermitRequest, keysOf } from '#lib/gateway/limits/store/wire';

/** An answer that has not come by then never will; ms. */
const REQUEST_MS = 2_000;

/** Shared limits in a Redis that is reached by REST, as Upstash serves it. */
export function upstashStore(
  { url, token }: { readonly url: string; readonly token: string },
  options: Pick<RedisStoreOptions, 'patienceMs' | 'clock'>,
): LimitStore {
  const script = limitScript(options.clock?.script ?? redisClock);
  const sha = hash('sha1', script);
  const client = new Redis({
    url,
    token,
    // By default it sends a command whose answer was lost five times more.
    retry: { retries: 0 },
    enableTelemetry: false,
    automaticDeserialization: false,
    signal: () => AbortSignal.timeout(REQUEST_MS),
  });
  return {
    name: 'Upstash',
    patienceMs: options.patienceMs,
    async carryOut(ask) {
      const keys = keysOf(ask);
      const given = [encodePermitRequest(ask), ...nowOf(options)];
      const known = await client.evalsha(sha, keys, given).catch(unlessMissing);
      return decodeAnswer(String(known === missing ? await client.eval(script, keys, given) : known));
    },
    reconnect: () => undefined,
    sweep: async () => undefined,
    close: async () => undefined,
  };
}
