/** Most drains at once in one process (contract: money/drain). */
const MOST = 256;
/** Most drains at once for a key without a concurrency limit. */
const MOST_OF_KEY = 16;

/** Drains: answers that this process reads to their end, for their usage, after the client has left. */
export class Drains {
  readonly #most: number;
  readonly #running = new Set<() => void>();
  readonly #ofKeys = new Map<string, number>();
  #stopped = false;

  /** @param most drains at once, of all keys together. */
  constructor(most = MOST) {
    this.#most = most;
  }

  /**
   * Begins a drain, which holds no concurrency slot.
   * @param concurrency the key's concurrency limit, which also limits its drains; null: 16.
   * @param must begin it regardless of the limits.
   * @param cut ends the drain early; its call is then charged by estimate.
   * @returns a function that ends the drain; null: a limit is reached, so the connection is to be closed.
   */
  begin(keyId: string, concurrency: number | null, must: boolean, cut: () => void): (() => void) | null {
    const ofKey = this.#ofKeys.get(keyId) ?? 0;
    const room = !this.#stopped && this.#running.size < this.#most && ofKey < (concurrency ?? MOST_OF_KEY);
    if (!room && !must) return null;
    this.#running.add(cut);
    this.#ofKeys.set(keyId, ofKey + 1);
    return () => {
      if (!this.#running.delete(cut)) return;
      const left = (this.#ofKeys.get(keyId) ?? 1) - 1;
      if (left > 0) this.#ofKeys.set(keyId, left);
      else this.#ofKeys.delete(keyId);
    };
  }

  /** Cuts all running drains and refuses new ones, because the process is stopping. */
  stop(): void {
    this.#stopped = true;
    for (const cut of [...this.#running]) cut();
  }
}
