import type { LimitStore, PermitAnswer, PermitRequest } from '#lib/gateway/limits/pure/permit-request';

interface Event {
  readonly atMs: number;
  readonly order: number;
  work: (() => void) | null;
}

/** Simulated time: events run in order, and the clock stops while a store of limits does its real work. */
export class Simulation {
  nowMs = 1_000_000;
  readonly #events: Event[] = [];
  #order = 0;
  readonly #working = new Set<Promise<unknown>>();

  /** Runs `work` after `ms`. @returns a function that cancels it. */
  later(ms: number, work: () => void): () => void {
    const event: Event = { atMs: this.nowMs + ms, order: this.#order++, work };
    if (Number.isFinite(ms)) this.#insert(event);
    return () => {
      event.work = null;
    };
  }

  at(atMs: number, work: () => void): void {
    this.later(Math.max(0, atMs - this.nowMs), work);
  }

  /** A real store behind a simulated network with a round trip of `roundTripMs`. */
  seen(store: LimitStore, roundTripMs: number): LimitStore {
    const carryOut = (ask: PermitRequest) =>
      new Promise<PermitAnswer>((resolve, reject) => {
        this.later(roundTripMs / 2, () => {
          const work = store.carryOut(ask).then(
            (answer) => void this.later(roundTripMs / 2, () => resolve(answer)),
            (error: unknown) => void this.later(roundTripMs / 2, () => reject(error)),
          );
          this.#working.add(work);
          void work.finally(() => this.#working.delete(work));
        });
      });
    return {
      name: store.name,
      patienceMs: Number.POSITIVE_INFINITY,
      carryOut,
      reconnect: () => undefined,
      sweep: async () => undefined,
      close: async () => undefined,
    };
  }

  /** Runs everything up to `untilMs`. */
  async run(untilMs: number): Promise<void> {
    for (;;) {
      const event = this.#events[0];
      if (!event || event.atMs > untilMs) break;
      this.#events.shift();
      if (!event.work) continue;
      this.nowMs = event.atMs;
      event.work();
      do await new Promise(setImmediate);
      while (await this.#settled());
    }
    this.nowMs = untilMs;
  }

  async #settled(): Promise<boolean> {
    if (this.#working.size === 0) return false;
    await Promise.all(this.#working);
    return true;
  }

  /** By time, then by the order of arrival. */
  #insert(event: Event): void {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#events[middle];
      if (other && other.atMs <= event.atMs) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, event);
  }
}
