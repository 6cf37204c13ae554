/**
 * What a call used, one shape for all families (operations.md "call show").
 * `input` is uncached input; `audioInput` and `imageInput` are parts of it.
 * `output` includes reasoning; `reasoning`, `audioOutput` and `imageOutput` are parts of it.
 * Cache reads and writes stand beside `input`, never inside it.
 */
export interface Usage {
  input: number;
  cachedInput: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  output: number;
  reasoning: number;
  audioInput: number;
  audioOutput: number;
  imageInput: number;
  imageOutput: number;
  images: number;
  videoSeconds: number;
  webSearches: number;
}

/** What a family's reader found in an answer. */
export interface UsageReport {
  readonly usage: Usage;
  /** The tier that the answer names; null when it names none. It decides the price (decisions §6). */
  readonly serviceTier: string | null;
  /** Usage that the answer attributes to a nested model, as the provider names it. */
  readonly nested: readonly { readonly upstreamModel: string; readonly usage: Usage }[];
  /** `usage_anomaly`, `usage_negative` and the like; shown in the call log. */
  readonly flags: readonly string[];
}

/** reported: by the provider. estimated: counted by us. none: nothing was used or seen. */
export type UsageSource = 'reported' | 'estimated' | 'none';

export const noUsage: Readonly<Usage> = Object.freeze({
  input: 0,
  cachedInput: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
  imageInput: 0,
  imageOutput: 0,
  images: 0,
  videoSeconds: 0,
  webSearches: 0,
});

/** Tokens that TPM counts: uncached input + cache writes + output, not cached input (decisions §8). */
export function countedTokens(usage: Usage): number {
  return usage.input + usage.cacheWrite5m + usage.cacheWrite1h + usage.output;
}

/** A usage with all classes 0 but those given. */
export function usageOf(part: Partial<Usage>): Usage {
  return { ...noUsage, ...part };
}
