import { z } from 'zod';
import type { Sums } from '#lib/control/operations/usage/sums';
import type { Histogram } from '#lib/core/metering/histogram';
import { formatUsd } from '#lib/core/money';
import { errorClasses } from '#lib/gateway/settlement/pure/error-class';

export const dollars = z.string().meta({ description: 'Dollars as a decimal string.' });

const count = (description: string) => z.int().meta({ description });

const quantiles = z
  .object({
    p50: z.number().meta({ description: 'Half of the calls took at most this.' }),
    p95: z.number().meta({ description: '95 % of the calls took at most this.' }),
  })
  .nullable()
  .meta({ description: 'In ms, at most 5 % off; null: no call has it.' });

/** What calls add up to, as every answer about usage says it. */
export const usageFigures = z.object({
  calls: z.int().meta({ description: 'How many calls.' }),
  errors: z.int().meta({ description: 'Answers of 400 and above, and calls that broke off.' }),
  errorsBy: z
    .object({
      client: count('Requests that cannot be served as they are.'),
      limit: count('Refused by a rate limit, a cap, a quota or the balance.'),
      provider: count('Errors of the provider, or no answer from it.'),
      timeout: count('A time limit ran out.'),
      broken: count('Broken off after the answer began, or with the process.'),
      gateway: count('This gateway could not serve anybody.'),
      other: count('Of a time before errors had causes.'),
    })
    .meta({ description: 'The errors by cause.' }),
  errorRate: z.number().nullable().meta({ description: 'Errors ÷ calls; null without calls.' }),
  refused: z.int().meta({ description: 'Calls that this gateway refused; each is an error too.' }),
  attempts: count('How many attempts at providers.'),
  fallbacks: z.int().meta({ description: 'Calls that needed another target.' }),
  inputTokens: z.int().meta({ description: 'Uncached input.' }),
  cachedTokens: z.int(),
  cacheWrite5mTokens: z.int(),
  cacheWrite1hTokens: z.int(),
  outputTokens: z.int().meta({ description: 'With reasoning.' }),
  reasoningTokens: z.int(),
  audioInputTokens: z.int(),
  audioOutputTokens: z.int(),
  imageInputTokens: z.int(),
  imageOutputTokens: z.int(),
  images: count('How many images were made.'),
  videoSeconds: z.int(),
  webSearches: count('How many searches providers made.'),
  latencyMs: quantiles.meta({ description: 'Of calls that were neither refused nor interrupted.' }),
  firstByteMs: quantiles.meta({ description: 'Until the first byte of the answer.' }),
  cost: dollars,
});
export type UsageFigures = z.output<typeof usageFigures>;

export function errorsOf({ errors }: Sums): number {
  return errorClasses.reduce((sum, name) => sum + errors[name], 0);
}

export function figuresOf(sums: Sums): UsageFigures {
  const { calls, refused, attempts, fallbacks, errors, used, costNano, latency, firstByte } = sums;
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
    images: used.images,
    videoSeconds: used.videoSeconds,
    webSearches: used.webSearches,
    latencyMs: quantilesOf(latency),
    firstByteMs: quantilesOf(firstByte),
    cost: formatUsd(costNano),
  };
}

function quantilesOf(histogram: Histogram): { p50: number; p95: number } | null {
  const [p50, p95] = [histogram.quantile(0.5), histogram.quantile(0.95)];
  return p50 === null || p95 === null ? null : { p50, p95 };
}

/** The dearest first; of equal ones by name. */
export function byCost<R extends { readonly value: string; readonly sums: Sums }>(a: R, b: R): number {
  if (a.sums.costNano !== b.sums.costNano) return a.sums.costNano > b.sums.costNano ? -1 : 1;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}
