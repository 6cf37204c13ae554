import type { CredentialFacts } from '#lib/core/facts/credential';
import {
  type Aimed,
  type AttemptFailure,
  type AttemptReport,
  type CredentialError,
  type CredentialHealth,
  type Health,
  type Measure,
  type OfferHealth,
  type Smoothed,
  unseen,
  untried,
} from '#lib/gateway/routing/health';
import { healthIdOf, isOwnHealthId, poolOf } from '#lib/gateway/routing/pure/pool';

/** Failures in a row that set an offer aside, and for how long (contract: routing/breaker). */
const FAILURES = 5;
const ASIDE_MS = 10_000;
const MOST_ASIDE_MS = 300_000;
/** A provider's Retry-After is believed up to a day. */
const MOST_RETRY_AFTER_MS = 86_400_000;
/** Further fallbacks to one offer: this share of its running attempts, never fewer than the floor. */
const FURTHER_SHARE = 0.2;
const FURTHER_FLOOR = 10;
/** Time-outs before an answer has begun: in a pool, one is enough to try the others first. */
const hangs = new Set(['first_byte_timeout', 'first_word_timeout']);
/** Own keys at offers whose health is known; the one that was not tried for longest is forgotten first. */
const MOST_OWN_KEYS = 20_000;
/** Weight of the newest figure in the smoothed ones. */
const NEWEST = 0.2;

/** Health in memory: figures and a retry budget for each offer, and a breaker for each of its credentials. */
export function createHealth(): Health {
  const offers = new Map<string, Offer>();
  // Of own keys, in the order of their last attempt: those of other workspaces and of the operator are not touched.
  const ofOwnKeys = new Map<string, Offer>();
  const find = (id: string): Offer | undefined => offers.get(id) ?? ofOwnKeys.get(id);
  const get = (id: string): Offer => {
    const known = find(id);
    if (known) return known;
    const fresh = new Offer();
    offers.set(id, fresh);
    return fresh;
  };
  const ofAim = ({ offer, credential }: Aimed): Offer => {
    if (!credential.own) return get(offer.id);
    const id = healthIdOf(offer, credential);
    const made = ofOwnKeys.get(id) ?? new Offer();
    ofOwnKeys.delete(id);
    ofOwnKeys.set(id, made);
    const [oldest] = ofOwnKeys.size > MOST_OWN_KEYS ? ofOwnKeys.keys() : [];
    if (oldest !== undefined) ofOwnKeys.delete(oldest);
    return made;
  };
  return {
    of: (id) => find(id) ?? untried,
    isAside: ({ offer, credential }, nowMs) =>
      (find(healthIdOf(offer, credential))?.credentials[credential.name]?.openUntilMs ?? 0) > nowMs,
    begin: (aimed, nowMs, further) => ofAim(aimed).begin(aimed, nowMs, further),
    atLimit: (aimed, untilMs) => ofAim(aimed).atLimit(aimed, untilMs),
    measured: (id, measure, nowMs) =>
      (isOwnHealthId(id) ? ofOwnKeys.get(id) : get(id))?.measure(measure, nowMs),
    list: () => [...offers].map(([offerId, offer]) => ({ offerId, ...offer.shown() })),
  };
}

class Offer implements OfferHealth {
  streamFirstByteMs = unseen;
  wholeMs = unseen;
  tokensPerSecond = unseen;
  cachedShare = 0;
  errorRate = 0;
  running = 0;
  further = 0;
  readonly credentials: Record<string, Breaker> = Object.create(null);
  /** As of the newest attempt. */
  #pool: readonly CredentialFacts[] = [];
  /** Output tokens of measured answers and their duration in ms, both decaying with each answer. */
  #outputTokens = 0;
  #tookMs = 0;

  get openUntilMs(): number {
    return this.#best()?.openUntilMs ?? 0;
  }

  get tripped(): boolean {
    return this.#best()?.tripped ?? false;
  }

  get probing(): boolean {
    return this.#best()?.probing ?? false;
  }

  get failures(): number {
    return this.#best()?.failures ?? 0;
  }

  /** Of the credential that is back first; undefined: one of them was not tried, so the offer is in service. */
  #best(): Breaker | undefined {
    let best: Breaker | undefined;
    for (const { name } of this.#pool) {
      const known = this.credentials[name];
      if (known === undefined) return undefined;
      if (best === undefined || known.openUntilMs < best.openUntilMs) best = known;
    }
    return best;
  }

  begin({ offer, credential, pool }: Aimed, nowMs: number, further: boolean): AttemptReport | null {
    if (further && this.further >= Math.max(FURTHER_FLOOR, Math.floor(this.running * FURTHER_SHARE))) {
      return null;
    }
    const breaker = this.#breakerOf({ offer, credential });
    const serving = credential.own ? (pool ?? this.#pool) : this.#pool;
    const probe = breaker.begin(nowMs);
    this.running += 1;
    if (further) this.further += 1;
    return new AttemptUnderWay(this, breaker, { probe, further, others: serving.length > 1 });
  }

  atLimit(aimed: Aimed, untilMs: number): void {
    const breaker = this.#breakerOf(aimed);
    breaker.retryUntilMs = Math.max(breaker.retryUntilMs, untilMs);
  }

  #breakerOf({ offer, credential }: Aimed): Breaker {
    this.#pool = credential.own ? [credential] : poolOf(offer);
    this.credentials[credential.name] ??= new Breaker();
    return this.credentials[credential.name] as Breaker;
  }

  succeeded(firstByteMs: number | null, stream: boolean, nowMs: number): void {
    this.errorRate += NEWEST * (0 - this.errorRate);
    if (firstByteMs === null) return;
    if (stream) this.streamFirstByteMs = smooth(this.streamFirstByteMs, firstByteMs, nowMs);
    else this.wholeMs = smooth(this.wholeMs, firstByteMs, nowMs);
  }

  failed(): void {
    this.errorRate += NEWEST * (1 - this.errorRate);
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
    const credentials = Object.fromEntries(
      Object.entries(this.credentials).map(([name, breaker]) => [name, breaker.shown()]),
    );
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
      credentials,
    };
  }
}

/**
 * The breaker of a credential at an offer: closed, until failures in a row trip it, or in a pool one refusal or hang;
 * tripped until one attempt succeeds. While tripped it is set aside for a time; the first attempt after it is the probe,
 * which sets it aside again at once, so that no other one follows until the probe is known or that time is over.
 */
class Breaker implements CredentialHealth {
  failures = 0;
  tripped = false;
  refused = false;
  lastError: CredentialError | null = null;
  probes = 0;
  breakerUntilMs = 0;
  retryUntilMs = 0;
  asideMs = ASIDE_MS;

  get openUntilMs(): number {
    return Math.max(this.breakerUntilMs, this.retryUntilMs);
  }

  get probing(): boolean {
    return this.tripped && this.probes > 0;
  }

  /** Whether this attempt is the probe. */
  begin(nowMs: number): boolean {
    const probe = this.tripped && nowMs >= this.breakerUntilMs;
    if (!probe) return false;
    this.breakerUntilMs = nowMs + this.asideMs;
    this.probes += 1;
    return true;
  }

  /** A probe's first word puts it back in service; its failures count until the answer has ended well. */
  spoke(): void {
    this.tripped = false;
    this.refused = false;
    this.breakerUntilMs = 0;
  }

  succeeded(): void {
    this.failures = 0;
    this.asideMs = ASIDE_MS;
    this.spoke();
  }

  /** @param others another credential can serve. */
  failed(
    { credential, retryAfterMs, status, what }: AttemptFailure,
    { probe, others }: { readonly probe: boolean; readonly others: boolean },
    nowMs: number,
  ): void {
    this.failures += 1;
    this.lastError = { status, what, atMs: nowMs };
    // Others can take its calls, so it rests even if the provider does not say for how long.
    const waitMs = retryAfterMs ?? (credential === 'limited' && others ? ASIDE_MS : null);
    if (waitMs !== null) {
      this.retryUntilMs = Math.max(this.retryUntilMs, nowMs + Math.min(waitMs, MOST_RETRY_AFTER_MS));
    }
    const refused = credential === 'refused';
    if (refused) this.refused = true;
    // Attempts that started before it tripped say nothing new: only a probe makes the time longer.
    const atOnce = others && (refused || hangs.has(what));
    if (this.tripped ? !probe : this.failures < FAILURES && !atOnce) return;
    if (probe) this.asideMs = Math.min(this.asideMs * 2, MOST_ASIDE_MS);
    this.tripped = true;
    this.breakerUntilMs = nowMs + this.asideMs;
  }

  shown(): CredentialHealth {
    const { failures, openUntilMs, tripped, probing, refused, lastError } = this;
    return { failures, openUntilMs, tripped, probing, refused, lastError };
  }
}

class AttemptUnderWay implements AttemptReport {
  readonly #offer: Offer;
  readonly #breaker: Breaker;
  readonly #probe: boolean;
  readonly #further: boolean;
  /** The provider has another credential for this. */
  readonly #others: boolean;
  #over = false;

  constructor(
    offer: Offer,
    breaker: Breaker,
    {
      probe,
      further,
      others,
    }: { readonly probe: boolean; readonly further: boolean; readonly others: boolean },
  ) {
    this.#offer = offer;
    this.#breaker = breaker;
    this.#probe = probe;
    this.#further = further;
    this.#others = others;
  }

  spoke(): void {
    if (this.#probe && this.#breaker.tripped) this.#breaker.spoke();
  }

  succeeded(firstByteMs: number | null, stream: boolean, nowMs: number): void {
    this.#offer.succeeded(firstByteMs, stream, nowMs);
    this.#breaker.succeeded();
  }

  failed(failure: AttemptFailure, nowMs: number): void {
    this.#offer.failed();
    this.#breaker.failed(failure, { probe: this.#probe, others: this.#others }, nowMs);
  }

  abandoned(nowMs: number): void {
    // A probe without an outcome: the next attempt may be one.
    if (this.#probe && this.#breaker.tripped) this.#breaker.breakerUntilMs = nowMs;
  }

  over(): void {
    if (this.#over) return;
    this.#over = true;
    this.#offer.running -= 1;
    if (this.#further) this.#offer.further -= 1;
    if (this.#probe) this.#breaker.probes -= 1;
  }
}

function smooth(before: Smoothed, figure: number, nowMs: number): Smoothed {
  return {
    value: before.value === null ? figure : before.value + NEWEST * (figure - before.value),
    atMs: nowMs,
  };
}
