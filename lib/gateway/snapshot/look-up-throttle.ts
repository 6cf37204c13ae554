/** Guards the database against look-ups of keys that are not in memory (contract: authentication/look-up-limits). */
export interface LookUpThrottle {
  /** Seconds to wait (`Retry-After`), or 0: a look-up may start now and counts until `done`. */
  enter(nowMono: number): number;
  /** The database answered: the next failure starts a cool-down of 1 s again. */
  succeeded(): void;
  /** The database did not answer: a cool-down of 1 s, doubling to 30 s, unless one runs. */
  failed(nowMono: number): void;
  done(): void;
}

const shortestMs = 1_000;
const longestMs = 30_000;

/** @param options `atOnce` look-ups running, `perSecond` look-ups started in any second. Times monotonic. */
export function createLookUpThrottle(options: { atOnce: number; perSecond: number }): LookUpThrottle {
  /** Start times of the last `perSecond` look-ups: the oldest must be a second old. */
  const starts = new Float64Array(options.perSecond).fill(Number.NEGATIVE_INFINITY);
  let next = 0;
  let running = 0;
  let coolUntilMono = Number.NEGATIVE_INFINITY;
  let delayMs = 0;

  return {
    enter: (nowMono) => {
      if (nowMono < coolUntilMono) return Math.ceil((coolUntilMono - nowMono) / 1000);
      const oldest = starts[next] ?? Number.NEGATIVE_INFINITY;
      if (running >= options.atOnce || nowMono - oldest < 1000) return 1;
      starts[next] = nowMono;
      next = (next + 1) % options.perSecond;
      running++;
      return 0;
    },
    succeeded: () => {
      delayMs = 0;
    },
    failed: (nowMono) => {
      if (nowMono < coolUntilMono) return;
      delayMs = delayMs === 0 ? shortestMs : Math.min(delayMs * 2, longestMs);
      coolUntilMono = nowMono + delayMs;
    },
    done: () => {
      running--;
    },
  };
}
