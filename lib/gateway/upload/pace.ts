import type { Refused } from '#lib/errors';
import { stalled, tooSlow } from '#lib/gateway/upload/body-faults';

/** How fast request bodies must come (decisions §4). */
export interface BodyPace {
  /** How long a body may pause, ms. */
  readonly stallMs: number;
  /** A large body must bring `windowBytes` in each span of `windowMs`. */
  readonly windowMs: number;
  readonly windowBytes: number;
}

export const bodyPace: BodyPace = { stallMs: 30_000, windowMs: 10_000, windowBytes: 10 * 64 * 1024 };

/**
 * Times one body that is being received. A small one may come as slowly as its line is: it takes nothing
 * that others wait for. Times are monotonic ms; while we do not read, none passes.
 */
export class Pacer {
  /** When it is to be looked at again; Infinity while we do not read. */
  dueMono: number;
  readonly #pace: BodyPace;
  #stallMono: number;
  /** End of the span in which `#bytes` have come; Infinity: it is not large. */
  #windowMono = Number.POSITIVE_INFINITY;
  #bytes = 0;
  #pausedMono = 0;

  constructor(pace: BodyPace, nowMono: number) {
    this.#pace = pace;
    this.#stallMono = nowMono + pace.stallMs;
    this.dueMono = this.#stallMono;
  }

  /** From here on the body counts as large. */
  hurry(nowMono: number): void {
    if (this.#windowMono !== Number.POSITIVE_INFINITY) return;
    this.#windowMono = nowMono + this.#pace.windowMs;
    this.dueMono = Math.min(this.#stallMono, this.#windowMono);
  }

  came(bytes: number, nowMono: number): void {
    this.#bytes += bytes;
    this.#stallMono = nowMono + this.#pace.stallMs;
    this.dueMono = Math.min(this.#stallMono, this.#windowMono);
  }

  pause(nowMono: number): void {
    this.#pausedMono = nowMono;
    this.dueMono = Number.POSITIVE_INFINITY;
  }

  resume(nowMono: number): void {
    this.#windowMono += nowMono - this.#pausedMono;
    this.#stallMono = nowMono + this.#pace.stallMs;
    this.dueMono = Math.min(this.#stallMono, this.#windowMono);
  }

  /** It is due. @returns why the body is refused; null: it goes on. */
  check(nowMono: number): Refused | null {
    if (nowMono >= this.#stallMono) return stalled(this.#pace.stallMs);
    if (nowMono < this.#windowMono) return null;
    if (this.#bytes < this.#pace.windowBytes) return tooSlow(this.#pace);
    this.#bytes = 0;
    this.#windowMono = nowMono + this.#pace.windowMs;
    this.dueMono = Math.min(this.#stallMono, this.#windowMono);
    return null;
  }
}
