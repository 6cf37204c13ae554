/** How late a time limit may be noticed, ms: they are seconds long. */
const TICK_MS = 20;

/** Something that must have gone on by a moment. */
export interface Due {
  /** Monotonic ms; it may move at any time. Infinity: it waits for nothing now. */
  readonly dueMono: number;
  expire(nowMono: number): void;
}

/**
 * Watches time limits with one timer for all: a call has four of them, hardly one of which ever runs
 * out, and timers of their own were a twentieth of its time.
 */
export class Deadlines {
  readonly #watched = new Set<Due>();
  readonly #mono: () => number;
  #timer: NodeJS.Timeout | null = null;

  constructor(mono: () => number) {
    this.#mono = mono;
  }

  now(): number {
    return this.#mono();
  }

  watch(one: Due): void {
    this.#watched.add(one);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
  }

  forget(one: Due): void {
    this.#watched.delete(one);
  }

  #tick(): void {
    const nowMono = this.#mono();
    for (const one of this.#watched) if (one.dueMono <= nowMono) one.expire(nowMono);
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

// Taken before Next is loaded, which wraps it.
const mono = performance.now.bind(performance);

/** Those of this process. */
export const processDeadlines = new Deadlines(mono);
