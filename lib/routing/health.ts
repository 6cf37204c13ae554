/** Health of one offer as the plan sees it. */
export interface OfferHealth {
  /** Smoothed time to first byte, ms; null: never seen. */
  readonly firstByteMs: number | null;
  /** Smoothed output tokens per second; null: never seen. */
  readonly tokensPerSecond: number | null;
  /** Set aside until then, ms since the epoch; 0: in service. */
  readonly openUntilMs: number;
}

/** What attempts report and the plan reads, per offer id. */
export interface Health {
  of(offerId: string, nowMs: number): OfferHealth;
  /** An attempt got a usable answer. */
  succeeded(offerId: string, firstByteMs: number, nowMs: number): void;
  /** An attempt failed in a way that counts against the offer; `retryAfterMs` as the provider asked. */
  failed(offerId: string, retryAfterMs: number | null, nowMs: number): void;
}

interface Seen {
  firstByteMs: number | null;
  tokensPerSecond: number | null;
  failures: number;
  openUntilMs: number;
  /** Length of the next time aside, ms. */
  asideMs: number;
}

/** Failures in a row that set an offer aside, and for how long (decisions §12). */
const FAILURES = 5;
const ASIDE_MS = 10_000;
const MOST_ASIDE_MS = 300_000;
/** Weight of the newest figure in the smoothed ones. */
const NEWEST = 0.2;

/** Health in memory: a breaker and smoothed figures for each offer. */
export function createHealth(): Health {
  const offers = new Map<string, Seen>();
  const seen = (offerId: string): Seen => {
    const known = offers.get(offerId);
    if (known) return known;
    const fresh: Seen = {
      firstByteMs: null,
      tokensPerSecond: null,
      failures: 0,
      openUntilMs: 0,
      asideMs: ASIDE_MS,
    };
    offers.set(offerId, fresh);
    return fresh;
  };
  return {
    of: (offerId) => offers.get(offerId) ?? healthy,
    succeeded: (offerId, firstByteMs) => {
      const offer = seen(offerId);
      offer.failures = 0;
      offer.openUntilMs = 0;
      offer.asideMs = ASIDE_MS;
      offer.firstByteMs =
        offer.firstByteMs === null
          ? firstByteMs
          : offer.firstByteMs + NEWEST * (firstByteMs - offer.firstByteMs);
    },
    failed: (offerId, retryAfterMs, nowMs) => {
      const offer = seen(offerId);
      offer.failures += 1;
      if (retryAfterMs !== null) offer.openUntilMs = Math.max(offer.openUntilMs, nowMs + retryAfterMs);
      if (offer.failures < FAILURES) return;
      offer.openUntilMs = Math.max(offer.openUntilMs, nowMs + offer.asideMs);
      offer.asideMs = Math.min(offer.asideMs * 2, MOST_ASIDE_MS);
    },
  };
}

const healthy: OfferHealth = { firstByteMs: null, tokensPerSecond: null, openUntilMs: 0 };
