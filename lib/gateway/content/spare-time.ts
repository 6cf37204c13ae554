import { setTimeout as pause } from 'node:timers/promises';

/** Above this share of the event loop's time, calls have no time to spare. */
const BUSY = 0.8;
/** Between two looks, ms. */
const LOOK_MS = 50;
/** Even if calls never leave time, something is kept each second, ms. */
const LONGEST_MS = 1_000;

/**
 * Work beside the calls waits while the event loop has no time to spare, so that it does not slow calls down
 * (contract: content/beside). A thread on the same core counts: what it takes, the event loop lacks.
 */
export class SpareTime {
  #since = performance.eventLoopUtilization();
  #lookedMono = performance.now();
  #spare = true;

  /** Resolves when there is time to spare, at the latest after a second. */
  async wait(): Promise<void> {
    for (let waitedMs = 0; !this.#look() && waitedMs < LONGEST_MS; waitedMs += LOOK_MS) await pause(LOOK_MS);
  }

  #look(): boolean {
    const nowMono = performance.now();
    if (nowMono >= this.#lookedMono + LOOK_MS) {
      const now = performance.eventLoopUtilization();
      this.#spare = performance.eventLoopUtilization(now, this.#since).utilization < BUSY;
      this.#since = now;
      this.#lookedMono = nowMono;
    }
    return this.#spare;
  }
}
