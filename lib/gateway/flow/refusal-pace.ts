/** Refusals of one key in a second that pass at full speed (contract: limits/refusal-pace). */
const FREE = 100;
const MOST_DELAY_MS = 1_000;

/** Slows a key that is refused in floods; all its refusals are still logged. */
export class RefusalPace {
  #second = 0;
  #counts = new Map<string, number>();

  /** How long this refusal waits, ms: 0 up to 100 a second, then 10 ms more for each, at most 1 s. */
  delayMs(keyId: string, nowMs: number): number {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#counts = new Map();
    }
    const count = (this.#counts.get(keyId) ?? 0) + 1;
    this.#counts.set(keyId, count);
    return Math.min(MOST_DELAY_MS, Math.max(0, count - FREE) * 10);
  }
}
