import type { Truth } from '#tools/sandbox/dialect';
import type { ContentAsk } from '#tools/sandbox/generate-content/ask';
import type { UsageFigures } from '#tools/sandbox/scenario/behaviour';
import { bends } from '#tools/sandbox/scenario/bend';

/**
 * The usage object as the provider reports it, true or falsified (`bend`): thoughts beside candidates, tool results
 * beside the prompt, figures of 0 left out.
 * @param output tokens so far, thoughts included.
 * @returns undefined where there is none, null where it says null.
 */
export function contentUsage(
  ask: ContentAsk,
  truth: Truth,
  figures: UsageFigures,
  output: number = truth.outputTokens,
): object | null | undefined {
  if (figures === 'none') return undefined;
  if (figures === 'null') return null;
  const bend = bends[figures];
  const thoughts = Math.min(truth.reasoningTokens, output);
  const shown = {
    promptTokenCount: ask.chat.inputTokens,
    cachedContentTokenCount: truth.cachedTokens,
    candidatesTokenCount: output - thoughts,
    thoughtsTokenCount: thoughts,
    toolUsePromptTokenCount: ask.toolTokens,
    totalTokenCount: ask.chat.inputTokens + ask.toolTokens + output,
  };
  const counts = Object.entries(shown).flatMap(([name, value]) => (value === 0 ? [] : [[name, bend(value)]]));
  return {
    ...Object.fromEntries(counts),
    promptTokensDetails: modalities(ask),
    ...(truth.cachedTokens > 0
      ? { cacheTokensDetails: [{ modality: 'TEXT', tokenCount: truth.cachedTokens }] }
      : {}),
    serviceTier: truth.serviceTier,
  };
}

/** The prompt by modality. */
export function modalities({ chat }: ContentAsk): readonly object[] {
  const { inputTokens, audioTokens, imageTokens } = chat;
  return [
    { modality: 'TEXT', tokenCount: inputTokens - audioTokens - imageTokens },
    { modality: 'IMAGE', tokenCount: imageTokens },
    { modality: 'AUDIO', tokenCount: audioTokens },
  ].filter(({ tokenCount }) => tokenCount > 0);
}
