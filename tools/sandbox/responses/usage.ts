import type { Truth } from '#tools/sandbox/dialect';
import type { UsageFigures } from '#tools/sandbox/scenario/behaviour';
import { reported } from '#tools/sandbox/scenario/bend';

export function responseUsage(truth: Truth, figures: UsageFigures): object | null | undefined {
  return reported(figures, (bend) => ({
    input_tokens: bend(truth.inputTokens),
    input_tokens_details: {
      cached_tokens: bend(truth.cachedTokens),
      cache_write_tokens: bend(truth.cacheWriteTokens),
    },
    output_tokens: bend(truth.outputTokens),
    output_tokens_details: { reasoning_tokens: Math.min(truth.reasoningTokens, truth.outputTokens) },
    total_tokens: bend(truth.inputTokens + truth.outputTokens),
  }));
}
