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
