/** Classes counted in tokens. */
export const tokenClasses = [
  'input',
  'cachedInput',
  'cacheWrite5m',
  'cacheWrite1h',
  'output',
  'reasoning',
  'audioInput',
  'audioOutput',
  'imageInput',
  'imageOutput',
  'cachedAudioInput',
  'cachedImageInput',
] as const;

/** The names of all that a call may have used. */
export const usageClasses = [
  ...tokenClasses,
  'images',
  'videoSeconds',
  'webSearches',
  'characters',
  'audioMs',
] as const;

/**
 * What a call used, one shape for all families (contract: call-log/usage-shape).
 * `input` is uncached input; `audioInput` and `imageInput` are parts of it.
 * `output` includes reasoning; `reasoning`, `audioOutput` and `imageOutput` are parts of it.
 * Cache reads and writes are counted next to `input`, never inside it; `cachedAudioInput` and `cachedImageInput` are
 * parts of `cachedInput`.
 * `characters` are those of text that was spoken, `audioMs` is the length of audio that was made or read.
 */
export type Usage = Record<(typeof usageClasses)[number], number>;

/** Figures that are parts of another; priced separately if they have a rate of their own. */
export const usageParts = {
  input: ['audioInput', 'imageInput'],
  cachedInput: ['cachedAudioInput', 'cachedImageInput'],
  output: ['reasoning', 'audioOutput', 'imageOutput'],
} as const;

/** Which side of a call a usage figure belongs to. */
export type Side = 'input' | 'output';

/** What a model other than the call's own used for it. */
export interface NestedUsage {
  /** As the provider names it. */
  readonly upstreamModel: string;
  readonly usage: Usage;
  /** It answered in place of the call's own model, so the tier of the answer applies to it. */
  readonly served?: true;
}

/** What a family's reader found in an answer. */
export interface UsageReport {
  readonly usage: Usage;
  /** A context cache that the call pays for, and how long, s (contract: batches/cache-charge); absent: none. */
  readonly kept?: { readonly tokens: number; readonly seconds: number };
  /**
   * The tier that the answer names, as it does; null when it names none. It decides the price
   * (contract: money/service-tiers).
   */
  readonly serviceTier: string | null;
  /** Usage that the answer attributes to a nested model, as the provider names it. */
  readonly nested: readonly NestedUsage[];
  /**
   * The answer broke off before it reported its output: `usage.output` is what it said at its start. The
   * input is the provider's, the output is estimated from what came.
   */
  readonly outputOpen?: boolean;
  /**
   * Sides of which a figure is missing or cannot be read: `usage` has the rest, and they are estimated
   * (contract: money/unreadable-usage). Absent: none.
   */
  readonly unread?: readonly Side[];
  /** Reported before the end of the answer, so the figures may have grown since. */
  readonly soFar?: boolean;
  /** The answer lists several passes of the model, whose input together may exceed the context. */
  readonly iterated?: boolean;
  /**
   * Entries of a price's map by size, quality or resolution that fit what was made, the closest first
   * ("1024x1024/high", "1024x1024"); absent: its `default`.
   */
  readonly units?: readonly string[];
  /** `usage_inconsistent`, `usage_negative` and the like; shown in the call log. */
  readonly flags: readonly string[];
}

/** Marks of a report of a stream that may still say what it used: until then, its tokens are estimated. */
export const unfinished = { outputOpen: true, unread: ['input'] } as const satisfies Partial<UsageReport>;

/**
 * reported: by the provider. estimated: by the gateway. none: nothing was used or seen
 * (contract: call-log/usage-source).
 */
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
  cachedAudioInput: 0,
  cachedImageInput: 0,
  images: 0,
  videoSeconds: 0,
  webSearches: 0,
  characters: 0,
  audioMs: 0,
});

/** Tokens that TPM counts: uncached input + cache writes + output, not cached input (contract: limits/tpm). */
export function countedTokens(usage: Usage): number {
  return usage.input + usage.cacheWrite5m + usage.cacheWrite1h + usage.output;
}

/**
 * All tokens that a call read and wrote: what a call that continues it reads again (contract: jobs/continued-tokens).
 */
export function usedTokens(usage: Usage): number {
  return countedTokens(usage) + usage.cachedInput;
}

/** All that a report contains, nested models included: what the call log shows and TPM counts. */
export function totalUsage({ usage, nested }: UsageReport): Usage {
  if (nested.length === 0) return usage;
  const total = { ...usage };
  for (const part of nested) addUsage(total, part.usage);
  return total;
}

/** Adds every figure of `part` to `sum`. */
export function addUsage(sum: Usage, part: Usage): void {
  for (const name of usageClasses) sum[name] += part[name];
}

/** A usage with all classes 0 but those given. */
export function usageOf(part: Partial<Usage>): Usage {
  return { ...noUsage, ...part };
}
