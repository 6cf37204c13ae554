/** A smoothed figure and when it was last fed, ms since the epoch. */
export interface Smoothed {
  readonly value: number | null;
  readonly atMs: number;
}

/** Health of one offer as the plan sees it. */
export interface OfferHealth {
  /** Time to first byte of streams, ms. */
  readonly streamFirstByteMs: Smoothed;
  /** The same of whole answers: nearly all of their generation. */
  readonly wholeMs: Smoothed;
  /** Output tokens a second, reasoning included, from a request being sent whole to the end of its answer. */
  readonly tokensPerSecond: Smoothed;
  /** Share of the input that was read from the provider's cache, 0 to 1. */
  readonly cachedShare: number;
  /** Share of attempts that failed, 0 to 1. */
  readonly errorRate: number;
  /** Failures in a row. */
  readonly failures: number;
  /** Attempts under way, answers being relayed included. */
  readonly running: number;
  /** Set aside until then, ms since the epoch; 0: in service. */
  readonly openUntilMs: number;
  /** Failures tripped its breaker and no attempt has succeeded since. */
  readonly tripped: boolean;
  /** The attempt that decides whether it is back is under way. */
  readonly probing: boolean;
}

/** No figure yet. */
export const unseen: Smoothed = { value: null, atMs: 0 };
/** An offer that no attempt has gone to. */
export const untried: OfferHealth = {
  streamFirstByteMs: unseen,
  wholeMs: unseen,
  tokensPerSecond: unseen,
  cachedShare: 0,
  errorRate: 0,
  failures: 0,
  running: 0,
  openUntilMs: 0,
  tripped: false,
  probing: false,
};

/** The state of an offer, for people and monitors. */
export type OfferState = 'in service' | 'set aside' | 'probing';

/**
 * probing: its time aside is over, and the attempt that is under way, or else the next one, decides
 * (contract: routing/breaker, routing/further-fallbacks).
 */
export function offerState(
  { openUntilMs, tripped, probing }: Pick<OfferHealth, 'openUntilMs' | 'tripped' | 'probing'>,
  nowMs: number,
): OfferState {
  if (probing) return 'probing';
  if (openUntilMs > nowMs) return 'set aside';
  return tripped ? 'probing' : 'in service';
}

/**
 * One attempt under way. Exactly one of `succeeded`, `failed` and `abandoned`, when its answer has ended
 * (contract: routing/health-at-the-end), and `over` once.
 */
export interface AttemptReport {
  /** Its answer has said its first word: that ends the time aside of the offer whose probe it is. */
  spoke(): void;
  /**
   * The offer answered. @param firstByteMs how long its first byte took; null for an answer that
   * says nothing about it (a refusal of the client's own request).
   */
  succeeded(firstByteMs: number | null, stream: boolean, nowMs: number): void;
  /** It failed in a way that counts against the offer. @param retryAfterMs the wait that it asked for, or null. */
  failed(retryAfterMs: number | null, nowMs: number): void;
  /** The client left first, or the gateway ended it: nothing was learned. */
  abandoned(nowMs: number): void;
  /** The exchange has ended. */
  over(): void;
}

/** What a whole answer showed about its offer. */
export interface Measure {
  readonly outputTokens: number;
  /** From the request being sent whole to the end of the answer, ms. */
  readonly tookMs: number;
  readonly inputTokens: number;
  /** Part of the input that came from the provider's cache. */
  readonly cachedTokens: number;
}

/** What attempts report and the plan reads, per offer id, in this process. */
export interface Health {
  of(offerId: string): OfferHealth;
  /** Whether the breaker wants this offer tried after all others: set aside, or its probe is under way. */
  isAside(offerId: string, nowMs: number): boolean;
  /**
   * Starts an attempt; where a probe is due, this attempt is it and others see the offer set aside.
   * @param further the call has fallen back before: counts against the retry budget.
   * @returns null when the offer's retry budget is used up.
   */
  begin(offerId: string, nowMs: number, further: boolean): AttemptReport | null;
  measured(offerId: string, measure: Measure, nowMs: number): void;
  /** Every offer that was tried, for metrics and the console. */
  list(): readonly (OfferHealth & { readonly offerId: string })[];
}
