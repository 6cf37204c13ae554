/** Length of every rate window, ms (contract: limits/rpm). */
export const WINDOW_MS = 60_000;
/** Limits up to this keep every admission's exact moment; larger ones, and none, merge what falls in 100 ms. */
const EXACT_UP_TO = 10_000;
const BUCKET_MS = 100;

/**
 * A sliding window of 60 s over weights: at most `limit` in any 60 s (contract: limits/rpm, limits/tpm). Requests
 * weigh 1, tokens their number. Times are monotonic ms and never run backwards. Without a limit it admits everything
 * and still counts, so that a limit set later finds what was admitted before it.
 *
 * An entry is one admission, or all of one 100 ms bucket under the moment of its latest one: the window may then count
 * a little long, never short, and no wait passes 60 s. Buckets bound its memory: 601 entries of 16 bytes.
 */
export class SlidingWindow {
  /** Infinity without a limit. */
  #limit = Number.POSITIVE_INFINITY;
  #exact = false;
  #times = new Float64Array(16);
  #weights = new Float64Array(16);
  #head = 0;
  #size = 0;
  #firstEntry = 0;
  #total = 0;

  /** @param limit most weight in any 60 s; a whole number, or null for no limit. */
  constructor(limit: number | null) {
    this.setLimit(limit);
  }

  get limit(): number | null {
    return this.#limit === Number.POSITIVE_INFINITY ? null : this.#limit;
  }

  /** A changed limit is in force at once; what was admitted before keeps counting, also while there was none. */
  setLimit(limit: number | null): void {
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
    this.#exact = this.#limit <= EXACT_UP_TO;
  }

  /** @returns the weight that counts at `nowMono`. */
  totalAt(nowMono: number): number {
    this.#forget(nowMono);
    return this.#total;
  }

  /** Whether `weight` may be admitted now; one above the whole limit only into an empty window, 0 admits nothing. */
  fits(weight: number, nowMono: number): boolean {
    this.#forget(nowMono);
    if (this.#limit === 0) return false;
    return weight > this.#limit ? this.#total === 0 : this.#total + weight <= this.#limit;
  }

  /**
   * @returns ms, 0 to 60,000, until `weight` fits if nothing else arrives: exact, neither less nor more
   * than needed (to the bucket).
   */
  waitMs(weight: number, nowMono: number): number {
    if (this.fits(weight, nowMono)) return 0;
    const room = weight > this.#limit ? 0 : this.#limit - weight;
    let left = this.#total;
    let index = this.#head;
    let lastMono = nowMono;
    for (let n = 0; n < this.#size && left > room; n++) {
      left -= this.#weights[index] ?? 0;
      lastMono = this.#times[index] ?? nowMono;
      index = (index + 1) & (this.#times.length - 1);
    }
    return Math.max(0, lastMono + WINDOW_MS - nowMono);
  }

  /**
   * Books `weight` at `nowMono` whether it fits or not: ask `fits` first, except for what a call used
   * beyond its estimate.
   * @returns its entry, for `giveBack`; -1 when there is nothing to book.
   */
  book(weight: number, nowMono: number): number {
    if (weight <= 0) return -1;
    this.#forget(nowMono);
    this.#total += weight;
    const last = (this.#head + this.#size - 1) & (this.#times.length - 1);
    const lastMono = this.#size > 0 ? (this.#times[last] ?? 0) : Number.NEGATIVE_INFINITY;
    const atMono = Math.max(nowMono, lastMono);
    if (!this.#exact && Math.floor(lastMono / BUCKET_MS) === Math.floor(atMono / BUCKET_MS)) {
      this.#weights[last] = (this.#weights[last] ?? 0) + weight;
      this.#times[last] = atMono;
    } else {
      if (this.#size === this.#times.length) this.#widen();
      const next = (this.#head + this.#size) & (this.#times.length - 1);
      this.#times[next] = atMono;
      this.#weights[next] = weight;
      this.#size++;
    }
    return this.#firstEntry + this.#size - 1;
  }

  /** Returns weight to the moment of its admission, while that is inside the window. */
  giveBack(entry: number, weight: number, nowMono: number): void {
    this.#forget(nowMono);
    const offset = entry - this.#firstEntry;
    if (weight <= 0 || offset < 0 || offset >= this.#size) return;
    const index = (this.#head + offset) & (this.#times.length - 1);
    const returned = Math.min(weight, this.#weights[index] ?? 0);
    this.#weights[index] = (this.#weights[index] ?? 0) - returned;
    this.#total -= returned;
  }

  #forget(nowMono: number): void {
    const untilMono = nowMono - WINDOW_MS;
    while (this.#size > 0 && (this.#times[this.#head] ?? 0) <= untilMono) {
      this.#total -= this.#weights[this.#head] ?? 0;
      this.#head = (this.#head + 1) & (this.#times.length - 1);
      this.#size--;
      this.#firstEntry++;
    }
  }

  /** Doubles the ring; its length stays a power of two. */
  #widen(): void {
    const length = this.#times.length;
    const times = new Float64Array(length * 2);
    const weights = new Float64Array(length * 2);
    times.set(this.#times.subarray(this.#head));
    times.set(this.#times.subarray(0, this.#head), length - this.#head);
    weights.set(this.#weights.subarray(this.#head));
    weights.set(this.#weights.subarray(0, this.#head), length - this.#head);
    this.#times = times;
    this.#weights = weights;
    this.#head = 0;
  }
}
