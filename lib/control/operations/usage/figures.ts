import { z } from 'zod';
import type { Sums } from '#lib/control/operations/usage/sums';
import type { Histogram } from '#lib/core/metering/histogram';
import { formatUsd } from '#lib/core/money';
import { errorClasses } from '#lib/gateway/settlement/pure/error-class';

export const dollars = z.string().describe('Dollars as a decimal string.');

const count = (description: string) => z.int().describe(description);

const quantiles = z
  .object({
    p50: z.number().describe('Half of the calls took at most this long.'),
    p95: z.number().describe('95% of the calls took at most this long.'),
  })
  .nullable()
  .describe('In ms, within 5%; null: no data.');

/** The totals of calls, in every answer about usage. */
export const usageFigures = z.object({
  calls: z.int().describe('Number of calls.'),
  errors: z.int().describe('Answers of 400 and above, and broken calls.'),
  errorsBy: z
    .object({
      client: count('Invalid requests.'),
      limit: count('Refused because of a rate limit, a cap, a quota or the balance.'),
      provider: count('Errors of the provider, or no answer from it.'),
      timeout: count('Time limit exceeded.'),
      broken: count('Broken after the answer began, or when a process ended.'),
      gateway: count('The gateway could not serve the call.'),
      other: count('From before errors were recorded by cause.'),
    })
    .describe('The errors by cause.'),
  errorRate: z.number().nullable().describe('Errors ÷ calls; null: no calls.'),
  refused: z.int().describe('Calls that the gateway refused; these are also errors.'),
  attempts: count('Number of attempts at providers.'),
  fallbacks: z.int().describe('Calls that needed more than one target.'),
  inputTokens: z.int().describe('Uncached input.'),
  cachedTokens: z.int(),
  cacheWrite5mTokens: z.int(),
  cacheWrite1hTokens: z.int(),
  outputTokens: z.int().describe('Including reasoning.'),
  reasoningTokens: z.int(),
  audioInputTokens: z.int(),
  audioOutputTokens: z.int(),
  imageInputTokens: z.int(),
  imageOutputTokens: z.int(),
  cachedAudioTokens: z.int().describe('Part of `cachedTokens`.'),
  cachedImageTokens: z.int().describe('Part of `cachedTokens`.'),
  images: count('Number of generated images.'),
  videoSeconds: z.int(),
  webSearches: count('Number of searches by providers.'),
  characters: count('Characters of text that was spoken.'),
  audioMs: z.int().describe('Length of audio that was made or read, ms.'),
  latencyMs: quantiles.describe('For calls that were neither refused nor interrupted.'),
  firstByteMs: quantiles.describe('Time to the first byte of the answer.'),
  cost: dollars,
  ownKeyListPrice: dollars.describe(
    'What the calls by own keys would have cost at list price; of these, `cost` has only the fee.',
  ),
  rated: count('Calls whose feedback has a score, as far back as the log goes.'),
  good: count('Those of them that were good.'),
  repeated: count('Calls that were answered again for their Idempotency-Key; `calls` does not count them.'),
  cacheHits: count('Calls that were answered from the cache; `calls` does not count them.'),
  saved: dollars.describe('What the calls that were answered from the cache would have cost.'),
});
export type UsageFigures = z.output<typeof usageFigures>;

export function errorsOf({ errors }: Sums): number {
  return errorClasses.reduce((sum, name) => sum + errors[name], 0);
}

export function figuresOf(sums: Sums): UsageFigures {
  const { calls, refused, attempts, fallbacks, errors, used, costNano, ownListNano, latency, firstByte } =
    sums;
  const failed = errorsOf(sums);
  return {
    calls,
    errors: failed,
    errorsBy: { ...errors },
    errorRate: calls > 0 ? failed / calls : null,
    refused,
    attempts,
    fallbacks,
    inputTokens: used.input,
    cachedTokens: used.cachedInput,
    cacheWrite5mTokens: used.cacheWrite5m,
    cacheWrite1hTokens: used.cacheWrite1h,
    outputTokens: used.output,
    reasoningTokens: used.reasoning,
    audioInputTokens: used.audioInput,
    audioOutputTokens: used.audioOutput,
    imageInputTokens: used.imageInput,
    imageOutputTokens: used.imageOutput,
    cachedAudioTokens: used.cachedAudioInput,
    cachedImageTokens: used.cachedImageInput,
    images: used.images,
    videoSeconds: used.videoSeconds,
    webSearches: used.webSearches,
    characters: used.characters,
    audioMs: used.audioMs,
    latencyMs: quantilesOf(latency),
    firstByteMs: quantilesOf(firstByte),
    cost: formatUsd(costNano),
    ownKeyListPrice: formatUsd(ownListNano),
    rated: sums.rated,
    good: sums.good,
    repeated: sums.repeated,
    cacheHits: sums.cacheHits,
    saved: formatUsd(sums.savedNano),
  };
}

function quantilesOf(histogram: Histogram): { p50: number; p95: number } | null {
  const [p50, p95] = [histogram.quantile(0.5), histogram.quantile(0.95)];
  return p50 === null || p95 === null ? null : { p50, p95 };
}

/** Most expensive first, then by name. */
export function byCost<R extends { readonly value: string; readonly sums: Sums }>(a: R, b: R): number {
  if (a.sums.costNano !== b.sums.costNano) return a.sums.costNano > b.sums.costNano ? -1 : 1;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}
