import type { Target } from '#lib/gateway/routing/pure/target';

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
  /** Attempts under way, answers being relayed included. */
  readonly running: number;
  /** Failures in a row of the credential that stands best; as the following, it is the offer's own if there is one. */
  readonly failures: number;
  /** All its credentials are set aside until then, ms since the epoch; 0: in service. */
  readonly openUntilMs: number;
  readonly tripped: boolean;
  readonly probing: boolean;
  /** By name, those that were tried. */
  readonly credentials: Readonly<Record<string, CredentialHealth>>;
}

/** How a credential stands at one offer. */
export interface CredentialHealth {
  /** Failures in a row. */
  readonly failures: number;
  /** Set aside until then, ms since the epoch; 0: in service. */
  readonly openUntilMs: number;
  /** Failures tripped its breaker and no attempt has succeeded since. */
  readonly tripped: boolean;
  /** The attempt that decides whether it is back is under way. */
  readonly probing: boolean;
  /** The provider refused it, and it has not served a call since (contract: routing/refused-credential). */
  readonly refused: boolean;
  /** The newest failure, null: none. */
  readonly lastError: CredentialError | null;
}

/** Why an attempt failed, without anything of the request or the answer. */
export interface CredentialError {
  /** Of the provider's answer; null: it gave none. */
  readonly status: number | null;
  /** A kind of fault, or why there was no answer, as the call log names it. */
  readonly what: string;
  /** ms since the epoch. */
  readonly atMs: number;
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
  credentials: {},
};

/** The state of an offer, or of a credential at it, for people and monitors. */
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
  /** It failed in a way that counts against the offer. */
  failed(failure: AttemptFailure, nowMs: number): void;
  /** The client left first, or the gateway ended it: nothing was learned. */
  abandoned(nowMs: number): void;
  /** The exchange has ended. */
  over(): void;
}

export interface AttemptFailure extends Omit<CredentialError, 'atMs'> {
  /** What the failure says about the credential; null: nothing. */
  readonly credential: CredentialFault | null;
  /** The wait that the provider asked for, ms; null: none. */
  readonly retryAfterMs: number | null;
}

/**
 * A fault of the credential, so that another one may well serve the call (contract: routing/next-credential).
 * limited: it has been used too much; refused: it is wrong, or its account has no funds; forbidden: it may not do this.
 */
export type CredentialFault = 'limited' | 'refused' | 'forbidden';

/** What a whole answer showed about its offer. */
export interface Measure {
  readonly outputTokens: number;
  /** From the request being sent whole to the end of the answer, ms. */
  readonly tookMs: number;
  readonly inputTokens: number;
  /** Part of the input that came from the provider's cache. */
  readonly cachedTokens: number;
}

/** An offer with the credential by which it is called. */
export type Aimed = Pick<Target, 'offer' | 'credential'> & Partial<Pick<Target, 'pool'>>;

/** What attempts report and the plan reads, in this process: of offers, and of credentials at each of them. */
export interface Health {
  /** By the id of an offer, or of an own key at one (`healthIdOf`). */
  of(id: string): OfferHealth;
  /** Whether the breaker wants this credential tried after all others: set aside, or its probe is under way. */
  isAside(aimed: Aimed, nowMs: number): boolean;
  /**
   * Starts an attempt; where a probe is due, this attempt is it and others see the offer set aside.
   * @param further the call has fallen back before: counts against the retry budget.
   * @returns null when the offer's retry budget is used up.
   */
  begin(aimed: Aimed, nowMs: number, further: boolean): AttemptReport | null;
  /** Sets a credential aside that is at a limit of its own; nothing has failed. @param untilMs ms since the epoch. */
  atLimit(aimed: Aimed, untilMs: number): void;
  /** @param id as above. */
  measured(id: string, measure: Measure, nowMs: number): void;
  /** Every offer that was tried, for metrics and the console; own keys are not among them. */
  list(): readonly (OfferHealth & { readonly offerId: string })[];
}
