/**
 * Rates of one tier: nano-dollars per million units (contract: money/nano-dollars). A missing class costs its parent
 * (contract: money/missing-class).
 */
export interface Rates {
  readonly input?: bigint;
  readonly cachedInput?: bigint;
  readonly cacheWrite5m?: bigint;
  readonly cacheWrite1h?: bigint;
  readonly output?: bigint;
  readonly reasoning?: bigint;
  readonly audioInput?: bigint;
  readonly audioOutput?: bigint;
  readonly imageInput?: bigint;
  readonly imageOutput?: bigint;
  readonly cachedAudioInput?: bigint;
  readonly cachedImageInput?: bigint;
  /** Per million images; a map where size or quality decides ("1024x1024/high"; "default"). */
  readonly image?: bigint | Readonly<Record<string, bigint>>;
  readonly videoSecond?: bigint | Readonly<Record<string, bigint>>;
  /** Per million characters of text that is spoken. */
  readonly characters?: bigint;
  /** Per million milliseconds of audio that is made or read; a catalogue has it per hour. */
  readonly audioMs?: bigint;
  /** Per million tokens that a context cache keeps for an hour. */
  readonly cacheStorage?: bigint;
  readonly request?: bigint;
  readonly webSearch?: bigint;
}

/** Rates for the whole call once its total input passes the bound, tokens. */
export interface ContextTier {
  readonly aboveInputTokens: number;
  readonly rates: Rates;
}

/** Rates of a service tier or fast mode; without `tiers` they apply at every input length. */
export interface ServiceRates extends Rates {
  /** Ascending. */
  readonly tiers?: readonly ContextTier[];
}

/** A price as versioned and kept by a call from its admission on. */
export interface Price {
  readonly base: Rates;
  /** Ascending. */
  readonly tiers: readonly ContextTier[];
  /** Full rates by the tier that the answer names. */
  readonly serviceTiers: Readonly<Record<string, ServiceRates>>;
}
