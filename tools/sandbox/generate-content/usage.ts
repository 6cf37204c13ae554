import type { Truth } from '#tools/sandbox/dialect';
import type { ContentAsk } from '#tools/sandbox/generate-content/ask';
import type { UsageFigures } from '#tools/sandbox/scenario/behaviour';
import { reported } from '#tools/sandbox/scenario/bend';

/**
 * The usage object: thoughts are separate from candidates, tool results from the prompt; zeros are left out.
 * @param output tokens so far, including thoughts.
 */
export function contentUsage(
  ask: ContentAsk,
  truth: Truth,
  figures: UsageFigures,
  output: number = truth.outputTokens,
): object | null | undefined {
  const thoughts = Math.min(truth.reasoningTokens, output);
  const shown = {
    promptTokenCount: ask.chat.inputTokens,
    cachedContentTokenCount: truth.cachedTokens,
    candidatesTokenCount: output - thoughts,
    thoughtsTokenCount: thoughts,
    toolUsePromptTokenCount: ask.toolTokens,
    totalTokenCount: ask.chat.inputTokens + ask.toolTokens + output,
  };
  const counts = Object.entries(shown).filter(([, value]) => value !== 0);
  return reported(figures, (bend) => ({
    ...Object.fromEntries(counts.map(([name, value]) => [name, bend(value)])),
    promptTokensDetails: modalities(ask),
    ...(truth.cachedTokens > 0
      ? { cacheTokensDetails: [{ modality: 'TEXT', tokenCount: truth.cachedTokens }] }
      : {}),
    serviceTier: truth.serviceTier,
  }));
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
