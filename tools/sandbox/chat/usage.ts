import type { ChatAsk } from '#tools/sandbox/chat/ask';
import type { Truth } from '#tools/sandbox/dialect';
import type { UsageFigures } from '#tools/sandbox/scenario/behaviour';
import { bends } from '#tools/sandbox/scenario/bend';

/**
 * The usage object as the provider reports it, honest or bent.
 * @param output tokens to report; the truth's unless a stream is still running.
 * @returns undefined where there is none, null where it says null.
 */
export function chatUsage(
  ask: ChatAsk,
  truth: Truth,
  figures: UsageFigures,
  output: number = truth.outputTokens,
): object | null | undefined {
  if (figures === 'none') return undefined;
  if (figures === 'null') return null;
  const bend = bends[figures];
  return {
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
      reasoning_tokens: Math.min(truth.reasoningTokens, output),
      audio_tokens: ask.spoken ? Math.max(0, output - Math.min(truth.reasoningTokens, output)) : 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
