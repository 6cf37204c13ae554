/** After a failure the store is asked again no sooner than this, ms. */
const PAUSE_MS = 1_000;
/** How long what the fleet did without the store may take to arrive there, ms: each process has reported by then. */
export const settleMs = 6_000;

/**
 * Whether the store is asked for calls. `shared`: it decides. `both`: it is back, but may not know yet what other
 * processes admitted meanwhile, so each keeps to its share as well. `alone`: it is away, each keeps to its share.
 */
export type Mode = 'shared' | 'both' | 'alone';

/** One for each process, monotonic ms. It opens at the first failure, so that a store that hangs costs one wait. */
export class Breaker {
  #probeAtMono: number | null = null;
  #settledAtMono = Number.NEGATIVE_INFINITY;

  mode(nowMono: number): Mode {
    if (this.#probeAtMono !== null) return 'alone';
    return nowMono < this.#settledAtMono ? 'both' : 'shared';
  }

  /** Whether to ask now: one that failed is tried by one permit request at a time. */
  tryAsk(nowMono: number): boolean {
    if (this.#probeAtMono === null) return true;
    if (nowMono < this.#probeAtMono) return false;
    this.#probeAtMono = nowMono + PAUSE_MS;
    return true;
  }

  /** @returns whether it had been in order. */
  failed(nowMono: number): boolean {
    const first = this.#probeAtMono === null;
    this.#probeAtMono = nowMono + PAUSE_MS;
    return first;
  }

  /** @returns whether it had been away. */
  answered(nowMono: number): boolean {
    if (this.#probeAtMono === null) return false;
    this.#probeAtMono = null;
    this.#settledAtMono = nowMono + settleMs;
    return true;
  }
}
