import type { LanguageModelV4Usage } from '@ai-sdk/provider';

/** Tokens of an answer, none negative; what the provider did not report is 0. */
export interface TokenFigures {
  /** All input: cached, written to the cache, and the rest. */
  readonly input: number;
  readonly uncached: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** All output, thinking included. */
  readonly output: number;
  readonly reasoning: number;
}

export function figuresOf({ inputTokens, outputTokens }: LanguageModelV4Usage): TokenFigures {
  const cacheRead = count(inputTokens.cacheRead);
  const cacheWrite = count(inputTokens.cacheWrite);
  const uncached = count(inputTokens.noCache ?? count(inputTokens.total) - cacheRead - cacheWrite);
  const output = count(outputTokens.total);
  return {
    input: inputTokens.total === undefined ? uncached + cacheRead + cacheWrite : count(inputTokens.total),
    uncached,
    cacheRead,
    cacheWrite,
    output,
    reasoning: Math.min(count(outputTokens.reasoning), output),
  };
}

function count(tokens: number | undefined): number {
  return tokens !== undefined && tokens > 0 ? tokens : 0;
}
