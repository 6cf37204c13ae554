/** UTF-8 bytes of output that count as one token when no provider reported the number (contract: money/estimate). */
const BYTES_PER_TOKEN = 4;
/** Output tokens a second of an offer that has not been observed yet (contract: money/observed-speed). */
const UNKNOWN_SPEED = 50;

/** Tokens of an answer of which only its bytes are known, rounded up; the input's are in admission/estimate. */
export function estimateOutputTokens(outputBytes: number): number {
  return Math.ceil(outputBytes / BYTES_PER_TOKEN);
}

/** What is known of an answer that the gateway stopped reading before its end. */
export interface Unread {
  /** From the request being sent whole to the closing of the provider's connection, ms. */
  readonly workedMs: number;
  /** Output tokens a second, reasoning included, as observed on the offer; null: not observed yet. */
  readonly tokensPerSecond: number | null;
  /** Output tokens that the request, its key or the model allow, times `n`; 0: unknown, no bound. */
  readonly mostTokens: number;
}

/**
 * Estimated output tokens of a model with hidden reasoning, from the time that it worked, rounded down: the visible
 * output says nothing about the hidden part (contract: money/hidden-reasoning).
 */
export function estimateWorkedTokens({ workedMs, tokensPerSecond, mostTokens }: Unread): number {
  const made = Math.floor(((tokensPerSecond ?? UNKNOWN_SPEED) * Math.max(0, workedMs)) / 1000);
  return mostTokens > 0 ? Math.min(made, mostTokens) : made;
}
