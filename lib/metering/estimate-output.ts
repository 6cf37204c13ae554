import type { InputWeight } from '#lib/families/family';

/** UTF-8 bytes of text that count as one token when no provider told the number (decisions §6). */
export const BYTES_PER_TOKEN = 4;

/** Tokens of an answer of which only its bytes are known, rounded up. */
export function estimateOutputTokens(outputBytes: number): number {
  return Math.ceil(outputBytes / BYTES_PER_TOKEN);
}

/**
 * Tokens of an input that a provider read but never told about: text bytes ÷ 4, media as in the hold
 * (decisions §6 "What is charged").
 * @param contextTokens the model's context, at most which a file can be; Infinity when unknown.
 */
export function estimateInputTokens(weight: InputWeight, contextTokens: number): number {
  const media =
    weight.images * 2_500 +
    Math.ceil(weight.audioVideoBytes / 400) +
    Math.min(Math.ceil(weight.fileBytes / 3), contextTokens);
  return Math.ceil(weight.textBytes / BYTES_PER_TOKEN) + media;
}
