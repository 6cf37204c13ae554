import {
  type AttemptReport,
  type Health,
  type Measure,
  type OfferHealth,
  type Smoothed,
  unseen,
  untried,
} from '#lib/gateway/routing/health';

/** Failures in a row that set an offer aside, and for how long (contract: routing/breaker). */
const FAILURES = 5;
const ASIDE_MS = 10_000;
const MOST_ASIDE_MS = 300_000;
/** A provider's Retry-After is believed up to a day. */
const MOST_RETRY_AFTER_MS = 86_400_000;
/** Further fallbacks to one offer: this share of its running attempts, never fewer than the floor. */
const FURTHER_SHARE = 0.2;
const FURTHER_FLOOR = 10;
/** Weight of the newest figure in the smoothed ones. */
const NEWEST = 0.2;

/** Health in memory: a breaker, a retry budget and smoothed figures for each offer. */
export function createHealth(): Health {
  const offers = new Map<string, Offer>();
  const get = (offerId: string): Offer => {
    const known = offers.get(offerId);
    if (known) return known;
    const fresh = new Offer();
    offers.set(offerId, fresh);
    return fresh;
  };
  return {
    of: (offerId) => offers.get(offerId) ?? untried,
    isAside: (offerId, nowMs) => (offers.get(offerId)?.openUntilMs ?? 0) > nowMs,
    begin: (offerId, nowMs, further) => get(offerId).begin(nowMs, further),
    measured: (offerId, measure, nowMs) => get(offerId).measure(measure, nowMs),
    list: () => [...offers].map(([offerId, offer]) => ({ offerId, ...offer.shown() })),
  };
}

/**
 * The breaker: closed, until failures in a row trip it; tripped until one attempt succeeds. While
 * tripped the offer is set aside for a time; the first attempt after it is the probe, which sets it
 * aside again at once, so that no other one follows until the probe is known or that time is over.
 */
class Offer implements OfferHealth {
  streamFirstByteMs = unseen;
  wholeMs = unseen;
  tokensPerSecond = unseen;
  cachedShare = 0;
  errorRate = 0;
  failures = 0;
  running = 0;
  further = 0;
  tripped = false;
  probes = 0;
  breakerUntilMs = 0;
  retryUntilMs = 0;
  asideMs = ASIDE_MS;
  /** Output tokens of measured answers and their duration in ms, both decaying with each answer. */
  #outputTokens = 0;
  #tookMs = 0;

  get openUntilMs(): number {
    return Math.max(this.breakerUntilMs, this.retryUntilMs);
  }

  get probing(): boolean {
    return this.tripped && this.probes > 0;
  }

  begin(nowMs: number, further: boolean): AttemptReport | null {
    if (further && this.further >= Math.max(FURTHER_FLOOR, Math.floor(this.running * FURTHER_SHARE))) {
      return null;
    }
    const probe = this.tripped && nowMs >= this.breakerUntilMs;
    if (probe) {
      this.breakerUntilMs = nowMs + this.asideMs;
      this.probes += 1;
    }
    this.running += 1;
    if (further) this.further += 1;
    return new AttemptUnderWay(this, probe, further);
  }

  /** A probe's first word puts the offer back in service; its failures count until the answer has ended well. */
  spoke(): void {
    this.tripped = false;
    this.breakerUntilMs = 0;
  }

  succeeded(firstByteMs: number | null, stream: boolean, nowMs: number): void {
    this.failures = 0;
    this.tripped = false;
    this.breakerUntilMs = 0;
    this.asideMs = ASIDE_MS;
    this.errorRate += NEWEST * (0 - this.errorRate);
    if (firstByteMs === null) return;
    if (stream) this.streamFirstByteMs = smooth(this.streamFirstByteMs, firstByteMs, nowMs);
    else this.wholeMs = smooth(this.wholeMs, firstByteMs, nowMs);
  }

  failed(retryAfterMs: number | null, probe: boolean, nowMs: number): void {
    this.failures += 1;
    this.errorRate += NEWEST * (1 - this.errorRate);
    if (retryAfterMs !== null) {
      this.retryUntilMs = Math.max(this.retryUntilMs, nowMs + Math.min(retryAfterMs, MOST_RETRY_AFTER_MS));
    }
    // Attempts that started before it tripped say nothing new: only a probe makes the time longer.
    if (this.tripped ? !probe : this.failures < FAILURES) return;
    if (probe) this.asideMs = Math.min(this.asideMs * 2, MOST_ASIDE_MS);
    this.tripped = true;
    this.breakerUntilMs = nowMs + this.asideMs;
  }

  measure({ outputTokens, tookMs, inputTokens, cachedTokens }: Measure, nowMs: number): void {
    if (outputTokens > 0 && tookMs > 0) {
      // Summed separately, so that short answers have little weight in the speed.
      this.#outputTokens = this.#outputTokens * (1 - NEWEST) + outputTokens;
      this.#tookMs = this.#tookMs * (1 - NEWEST) + tookMs;
      this.tokensPerSecond = { value: (this.#outputTokens * 1000) / this.#tookMs, atMs: nowMs };
    }
    if (inputTokens > 0) this.cachedShare += NEWEST * (cachedTokens / inputTokens - this.cachedShare);
  }

  shown(): OfferHealth {
    const { streamFirstByteMs, wholeMs, tokensPerSecond, cachedShare, errorRate } = this;
    const { failures, running, openUntilMs, tripped, probing } = this;
    return {
      streamFirstByteMs,
      wholeMs,
      tokensPerSecond,
      cachedShare,
      errorRate,
      failures,
      running,
      openUntilMs,
      tripped,
      probing,
    };
  }
}

class AttemptUnderWay implements AttemptReport {
  readonly #offer: Offer;
  readonly #probe: boolean;
  readonly #further: boolean;
  #over = false;

  constructor(offer: Offer, probe: boolean, further: boolean) {
    this.#offer = offer;
    this.#probe = probe;
    this.#further = further;
  }

  spoke(): void {
    if (this.#probe && this.#offer.tripped) this.#offer.spoke();
  }

  succeeded(firstByteMs: number | null, stream: boolean, nowMs: number): void {
    this.#offer.succeeded(firstByteMs, stream, nowMs);
  }

  failed(retryAfterMs: number | null, nowMs: number): void {
    this.#offer.failed(retryAfterMs, this.#probe, nowMs);
  }

  abandoned(nowMs: number): void {
    // A probe without an outcome: the next attempt may be one.
    if (this.#probe && this.#offer.tripped) this.#offer.breakerUntilMs = nowMs;
  }

  over(): void {
    if (this.#over) return;
    this.#over = true;
    this.#offer.running -= 1;
    if (this.#further) this.#offer.further -= 1;
    if (this.#probe) this.#offer.probes -= 1;
  }
}

function smooth(before: Smoothed, figure: number, nowMs: number): Smoothed {
  return {
    value: before.value === null ? figure : before.value + NEWEST * (figure - before.value),
    atMs: nowMs,
  };
}
