/** Audio tokens that models of speech use for a second (contract: money/audio-tokens). */
const SPOKEN_TOKENS = 20;
/** Text tokens of a transcript of a second: with names of speakers, 27 were seen (contract: money/audio-hold). */
const WRITTEN_TOKENS = 30;

/** Audio tokens of speech. */
export function speechTokens(ms: number): number {
  return Math.ceil((ms * SPOKEN_TOKENS) / 1000);
}

/** The most text tokens of a transcript. */
export function writtenTokens(ms: number): number {
  return Math.ceil((ms * WRITTEN_TOKENS) / 1000);
}
