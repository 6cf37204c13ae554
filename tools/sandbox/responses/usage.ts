import type { Truth } from '#tools/sandbox/dialect';
import type { UsageFigures } from '#tools/sandbox/scenario/behaviour';
import { bends } from '#tools/sandbox/scenario/bend';

/**
 * The usage object as the provider reports it, honest or bent.
 * @returns undefined where there is none, null where it says null.
 */
export function responseUsage(truth: Truth, figures: UsageFigures): object | null | undefined {
  if (figures === 'none') return undefined;
  if (figures === 'null') return null;
  const bend = bends[figures];
  return {
    input_tokens: bend(truth.inputTokens),
    input_tokens_details: {
      cached_tokens: bend(truth.cachedTokens),
      cache_write_tokens: bend(truth.cacheWriteTokens),
    },
    output_tokens: bend(truth.outputTokens),
    output_tokens_details: { reasoning_tokens: Math.min(truth.reasoningTokens, truth.outputTokens) },
    total_tokens: bend(truth.inputTokens + truth.outputTokens),
  };
}
