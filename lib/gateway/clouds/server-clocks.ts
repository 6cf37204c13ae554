import type { Clock } from '#lib/platform/clock';

/** A difference that a check of times in requests would not notice, ms. */
const SMALL_MS = 60_000;

/**
 * How far the clocks of providers and issuers are ahead of this machine's, from the `Date` of their answers: signatures
 * and assertions carry the time, and are refused if it is wrong.
 */
export class ServerClocks {
  readonly #clock: Clock;
  readonly #aheadMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The time there, ms since the epoch. */
  now(origin: string): number {
    return this.#clock.now() + (this.#aheadMs.get(origin) ?? 0);
  }

  /** Learns from an answer. @returns whether what was sent before had a wrong time. */
  seen(origin: string, date: string): boolean {
    const thereMs = Date.parse(date);
    if (Number.isNaN(thereMs)) return false;
    const aheadMs = thereMs - this.#clock.now();
    const wrong = Math.abs(thereMs - this.now(origin)) > SMALL_MS;
    if (wrong) this.#aheadMs.set(origin, Math.abs(aheadMs) > SMALL_MS ? aheadMs : 0);
    return wrong;
  }
}
