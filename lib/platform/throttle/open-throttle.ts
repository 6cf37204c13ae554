import type { Env } from '#lib/platform/env/env';
import { InProcessThrottle } from '#lib/platform/throttle/in-process';
import type { Throttle } from '#lib/platform/throttle/throttle';

/** How long Redis may take with a claim, ms. */
const usualPatienceMs = 1_200;

interface OpenThrottle {
  readonly throttle: Throttle;
  close(): void;
}

/** The throttle of this process: on Redis or Upstash when one is configured, else in its memory. */
export function openThrottle(
  { redis }: Pick<Env, 'redis'>,
  report: (error: unknown) => void,
  patienceMs = usualPatienceMs,
): OpenThrottle {
  const alone = new InProcessThrottle(() => Date.now());
  if (redis === null) return { throttle: alone, close: () => undefined };
  const opening = openShared(redis, alone, report, patienceMs);
  const shared = async () => (await opening).throttle;
  return {
    throttle: {
      claim: async (limits) => (await shared()).claim(limits),
      giveBack: async (limit) => (await shared()).giveBack(limit),
      forget: async (limit) => (await shared()).forget(limit),
      mark: async (id) => (await shared()).mark(id),
      isMarked: async (id) => (await shared()).isMarked(id),
    },
    close: () => void opening.then(({ close }) => close()),
  };
}

/** Loads the clients of Redis, which a process without one does not need. */
async function openShared(
  redis: NonNullable<Env['redis']>,
  alone: Throttle,
  report: (error: unknown) => void,
  patienceMs: number,
): Promise<OpenThrottle> {
  const [{ openRedis }, { SharedThrottle }] = await Promise.all([
    import('#lib/platform/throttle/redis'),
    import('#lib/platform/throttle/shared'),
  ]);
  const opened = openRedis(redis, report, patienceMs);
  return { throttle: new SharedThrottle(opened.redis, alone, report, patienceMs), close: opened.close };
}
