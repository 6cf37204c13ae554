import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { restMs } from '#lib/gateway/content/pure/rest-ms';

/** Work after which there is a rest, ms. */
const WORK_MS = 2;
/** Between two looks at the event loop, ms. */
const LOOK_MS = 1;

/**
 * Work beside the calls takes only a share of the time that they leave, so that it does not slow them down
 * (contract: content/beside): after some work it rests, the longer the busier calls keep the event loop meanwhile. If
 * they take 95% of the time, it works for 5%.
 */
export class Rest {
  #workedMs = 0;

  /** @param workedMs since the last time, ms. */
  async after(workedMs: number): Promise<void> {
    this.#workedMs += workedMs;
    if (this.#workedMs < WORK_MS) return;
    const worked = this.#workedMs;
    this.#workedMs = 0;
    const sinceMono = performance.now();
    const since = performance.eventLoopUtilization();
    let wantedMs: number;
    do {
      await pause(LOOK_MS, undefined, { ref: false });
      wantedMs = restMs(worked, performance.eventLoopUtilization(since).utilization);
    } while (performance.now() < sinceMono + wantedMs);
  }
}
