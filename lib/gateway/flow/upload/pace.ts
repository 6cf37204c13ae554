import type { Refused } from '#lib/core/errors';
import { stalled, tooSlow } from '#lib/gateway/flow/upload/body-faults';

/** How fast request bodies must arrive (contract: body/pace). */
export interface BodyPace {
  /** Longest pause between two chunks, ms. */
  readonly stallMs: number;
  /** A large body must deliver `windowBytes` in each `windowMs`. */
  readonly windowMs: number;
  readonly windowBytes: number;
}

/** 30 s without a byte; 64 KiB/s over 10 s for large bodies. */
export const bodyPace: BodyPace = { stallMs: 30_000, windowMs: 10_000, windowBytes: 10 * 64 * 1024 };

/**
 * Enforces the pace of one body that is being received. A small body has no minimum rate, since it occupies nothing
 * that others wait for. Times are monotonic ms; time during which the gateway itself has paused reading does not count.
 */
export class Pacer {
  /** When `check` is due; Infinity while reading is paused. */
  dueMono: number;
  readonly #pace: BodyPace;
  #stallMono: number;
  /** End of the window in which `#bytes` have arrived; Infinity: no minimum rate applies. */
  #windowMono = Number.POSITIVE_INFINITY;
  #bytes = 0;
  #paused = false;
  #pausedMono = 0;

  constructor(pace: BodyPace, nowMono: number) {
    this.#pace = pace;
    this.#stallMono = nowMono + pace.stallMs;
    this.dueMono = this.#stallMono;
  }

  /** Enforces the minimum rate from now on; while reading is paused, from `resume` on. */
  hurry(nowMono: number): void {
    if (this.#windowMono !== Number.POSITIVE_INFINITY) return;
    if (this.#paused) {
      // `resume` moves the window by the whole pause, so it is counted from the start of the pause.
      this.#windowMono = this.#pausedMono + this.#pace.windowMs;
      return;
    }
    this.#windowMono = nowMono + this.#pace.windowMs;
    this.dueMono = Math.min(this.#stallMono, this.#windowMono);
  }

  came(bytes: number, nowMono: number): void {
    this.#bytes += bytes;
    this.#stallMono = nowMono + this.#pace.stallMs;
    this.dueMono = Math.min(this.#stallMono, this.#windowMono);
  }

  pause(nowMono: number): void {
    this.#paused = true;
    this.#pausedMono = nowMono;
    this.dueMono = Number.POSITIVE_INFINITY;
  }

  resume(nowMono: number): void {
    this.#paused = false;
    this.#windowMono += nowMono - this.#pausedMono;
    this.#stallMono = nowMono + this.#pace.stallMs;
    this.dueMono = Math.min(this.#stallMono, this.#windowMono);
  }

  /** Called when due. @returns why the body is refused; null: it may continue. */
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
