/** Even if calls take all of the time, something is kept each second, ms. */
const LONGEST_MS = 1_000;

/**
 * How long work beside the calls rests, ms, so that of all time it takes the share that calls leave
 * (contract: content/beside).
 * @param workedMs how long it worked.
 * @param busy the share of the event loop's time that calls take meanwhile, 0 to 1.
 */
export function restMs(workedMs: number, busy: number): number {
  return Math.min((workedMs * busy) / Math.max(1 - busy, 0.001), LONGEST_MS);
}
