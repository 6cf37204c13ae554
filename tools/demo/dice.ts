/** Random values from a seed, the same on every machine (the generator "mulberry32"). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** A whole number in [from, to]. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** Around a median, log-normal like sizes and durations. @param spread 0.3 is narrow, 1 is wide. */
  around(median: number, spread: number): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
    return median * Math.exp(spread * normal);
  }

  /** One item of a non-empty list, in proportion to its weight. */
  pick<T>(weighted: readonly (readonly [T, number])[]): T {
    let left = this.next() * weighted.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [one, weight] of weighted) {
      left -= weight;
      if (left < 0) return one;
    }
    const last = weighted.at(-1);
    if (last === undefined) throw new RangeError('there is nothing to pick from');
    return last[0];
  }

  /** Hex digits. */
  hex(count: number): string {
    let text = '';
    while (text.length < count) text += this.whole(0, 0xffff).toString(16).padStart(4, '0');
    return text.slice(0, count);
  }

  /** A request id (UUIDv7) of a moment, ms since the epoch. */
  id(atMs: number): string {
    const time = Math.floor(atMs).toString(16).padStart(12, '0');
    const variant = '89ab'[this.whole(0, 3)];
    return `${time.slice(0, 8)}-${time.slice(8)}-7${this.hex(3)}-${variant}${this.hex(3)}-${this.hex(12)}`;
  }
}
