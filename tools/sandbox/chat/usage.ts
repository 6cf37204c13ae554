import type { ChatAsk } from '#tools/sandbox/chat/ask';
import type { Truth } from '#tools/sandbox/dialect';
import type { UsageFigures } from '#tools/sandbox/scenario/behaviour';
import { reported } from '#tools/sandbox/scenario/bend';

/** The usage object. @param output tokens to report; the truth's unless a stream is still running. */
export function chatUsage(
  ask: ChatAsk,
  truth: Truth,
  figures: UsageFigures,
  output: number = truth.outputTokens,
): object | null | undefined {
  const reasoning = Math.min(truth.reasoningTokens, output);
  return reported(figures, (bend) => ({
    prompt_tokens: bend(truth.inputTokens),
    completion_tokens: bend(output),
    total_tokens: bend(truth.inputTokens + output),
    prompt_tokens_details: {
      cached_tokens: bend(truth.cachedTokens),
      audio_tokens: ask.audioTokens,
      ...(ask.imageTokens > 0 ? { image_tokens: ask.imageTokens } : {}),
      ...(truth.cacheWriteTokens > 0 ? { cache_write_tokens: bend(truth.cacheWriteTokens) } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: ask.spoken ? output - reasoning : 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }));
}
