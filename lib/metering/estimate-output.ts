/** UTF-8 bytes of output that count as one token when no provider told the number (decisions §6). */
const BYTES_PER_TOKEN = 4;

/** Tokens of an answer of which only its bytes are known, rounded up; the input's are in admission/estimate. */
export function estimateOutputTokens(outputBytes: number): number {
  return Math.ceil(outputBytes / BYTES_PER_TOKEN);
}
