import type { Env } from '#lib/env';
import { InProcessThrottle } from '#lib/throttle/in-process';
import { openRedis } from '#lib/throttle/redis';
import { SharedThrottle } from '#lib/throttle/shared';
import type { Throttle } from '#lib/throttle/throttle';

/** How long Redis may take with a claim, ms. */
const usualPatienceMs = 1_200;

/** The throttle of this process: on Redis or Upstash when one is configured, else in its memory. */
export function openThrottle(
  env: Pick<Env, 'redis'>,
  report: (error: unknown) => void,
  patienceMs = usualPatienceMs,
): { throttle: Throttle; close(): void } {
  const alone = new InProcessThrottle(() => Date.now());
  if (env.redis === null) return { throttle: alone, close: () => undefined };
  const { redis, close } = openRedis(env.redis, report, patienceMs);
  return { throttle: new SharedThrottle(redis, alone, report, patienceMs), close };
}
