import type { Clock } from '#lib/platform/clock';

/** Something that is valid for a time. */
export interface Lasting<Value> {
  readonly value: Value;
  /** ms since the epoch; infinite: it never expires. */
  readonly untilMs: number;
}

interface Renewal<Value> {
  readonly clock: Clock;
  /** Gets a new one. */
  fetch(): Promise<Lasting<Value>>;
  /** Whether it will still be needed; if not, it is not renewed. */
  wanted(): boolean;
  /** Told when a fetch fails, and again (null) when one succeeds after that. */
  told(error: unknown): void;
}

/** The part of its life after which it is renewed: the rest is time to try again. */
const RENEW_AT = 0.75;
/** Pauses between failed renewals, ms: doubled each time. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** One that is younger is not replaced because it was refused, ms. */
const YOUNG_MS = 60_000;
const LONGEST_TIMER_MS = 24 * 3_600_000;

/**
 * A token or keys of a role, renewed ahead of time and in the background: a call waits only if there is none at all
 * (contract: families/cloud-credentials).
 */
export class Renewed<Value> {
  readonly #renewal: Renewal<Value>;
  #held: Lasting<Value> | null = null;
  #fetchedMs = 0;
  #renewAtMs = 0;
  #failures = 0;
  #failed: { readonly error: unknown; readonly atMs: number; readonly pauseMs: number } | null = null;
  #running: Promise<Value> | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(renewal: Renewal<Value>) {
    this.#renewal = renewal;
  }

  /** The value, if there is one that is valid; otherwise a promise of it, which rejects if it cannot be had. */
  get(): Value | Promise<Value> {
    const nowMs = this.#renewal.clock.now();
    const held = this.#held;
    if (held !== null && held.untilMs > nowMs) {
      // The timer may be late: the machine may have slept.
      if (nowMs >= this.#renewAtMs && this.#mayTry(nowMs)) this.#renew();
      return held.value;
    }
    // Calls fail without it, so that it is tried again soon.
    const failed = this.#failed;
    if (this.#running === null && failed !== null && nowMs < failed.atMs + FIRST_PAUSE_MS) {
      return Promise.reject(failed.error);
    }
    return this.#fetch();
  }

  /**
   * The provider refused it: another one is fetched, unless that has happened already, or just now. A valid one may be
   * refused again and again, for what its owner may not do.
   */
  refused(value: Value): void {
    const nowMs = this.#renewal.clock.now();
    if (this.#held?.value !== value || nowMs < this.#fetchedMs + YOUNG_MS) return;
    if (this.#held.untilMs < Number.POSITIVE_INFINITY && this.#mayTry(nowMs)) this.#renew();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** After a failure, the issuer is left alone for a while. */
  #mayTry(nowMs: number): boolean {
    return this.#failed === null || nowMs >= this.#failed.atMs + this.#failed.pauseMs;
  }

  #renew(): void {
    // A failure was told, and is tried again later.
    this.#fetch().catch(() => undefined);
  }

  #fetch(): Promise<Value> {
    this.#running ??= this.#fetchOnce().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #fetchOnce(): Promise<Value> {
    const { clock } = this.#renewal;
    try {
      const held = await this.#renewal.fetch();
      const nowMs = clock.now();
      this.#held = held;
      this.#fetchedMs = nowMs;
      this.#renewAtMs = nowMs + (held.untilMs - nowMs) * RENEW_AT;
      if (this.#failed !== null) this.#renewal.told(null);
      this.#failed = null;
      this.#failures = 0;
      this.#waitUntil(this.#renewAtMs);
      return held.value;
    } catch (error) {
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS);
      const atMs = clock.now();
      this.#failures += 1;
      this.#failed = { error, atMs, pauseMs };
      this.#renewal.told(error);
      // Without a value, the next call tries.
      if (this.#held !== null && this.#held.untilMs > atMs) this.#waitUntil(atMs + pauseMs);
      throw error;
    }
  }

  #waitUntil(atMs: number): void {
    clearTimeout(this.#timer);
    const waitMs = atMs - this.#renewal.clock.now();
    if (!Number.isFinite(waitMs)) return;
    const due = () => {
      if (this.#renewal.wanted()) this.#renew();
    };
    this.#timer = setTimeout(due, Math.min(Math.max(waitMs, 0), LONGEST_TIMER_MS)).unref();
  }
}
