/** How late a time limit may be noticed, ms: they are seconds long. */
const TICK_MS = 20;

/** Something that must have gone on by a moment. */
export interface Due {
  /** Monotonic ms; it may move at any time. Infinity: it waits for nothing now. */
  readonly dueMono: number;
  /** Its index among the watched ones, which set it; -1 if it is not watched. */
  place: number;
  expire(nowMono: number): void;
}

/**
 * Watches time limits with one timer for all: a call has four of them, hardly one of which ever runs
 * out, and timers of their own were a twentieth of its time.
 */
export class Deadlines {
  /** No `Set`: see `CallTable` for what that costs where thousands come and go a second. */
  readonly #watched: Due[] = [];
  readonly #mono: () => number;
  #timer: NodeJS.Timeout | null = null;

  constructor(mono: () => number) {
    this.#mono = mono;
  }

  now(): number {
    return this.#mono();
  }

  watch(one: Due): void {
    one.place = this.#watched.length;
    this.#watched.push(one);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
  }

  forget(one: Due): void {
    const { place } = one;
    if (place < 0) return;
    one.place = -1;
    const last = this.#watched.pop();
    if (!last || last === one) return;
    this.#watched[place] = last;
    last.place = place;
  }

  #tick(): void {
    const nowMono = this.#mono();
    // From the end: who expires may leave, and the last one takes its place.
    for (let at = this.#watched.length - 1; at >= 0; at--) {
      const one = this.#watched[at];
      if (one && one.dueMono <= nowMono) one.expire(nowMono);
    }
    if (this.#watched.length > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

// Taken before Next is loaded, which wraps it.
const mono = performance.now.bind(performance);

/** Those of this process. */
export const processDeadlines = new Deadlines(mono);
