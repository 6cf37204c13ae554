/** Output tokens of a square picture of 1024 × 1024 by quality, as token-priced models count them. */
const squareTokens: Readonly<Record<string, number>> = {
  low: 272,
  medium: 1_056,
  high: 4_160,
  xhigh: 8_320,
  max: 16_640,
};
const SQUARE_PIXELS = 1024 * 1024;
/** A size that is left to the provider: the largest of the three standard ones. */
const SILENT_PIXELS = 1536 * 1024;
/** No provider draws more. */
const MOST_PIXELS = 8192 * 8192;

/**
 * Output tokens of one picture, for the hold and for estimates (contract: money/media-hold): in proportion to its
 * area; an unknown quality counts as high.
 * @param size "1536x1024"; anything else is left to the provider.
 */
export function outputTokensOf(size: string | null, quality: string | null): number {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? '') ?? [];
  const pixels = width && height ? Math.min(Number(width) * Number(height), MOST_PIXELS) : SILENT_PIXELS;
  const square = (Object.hasOwn(squareTokens, quality ?? '') && squareTokens[quality ?? '']) || 4_160;
  return Math.ceil((square * pixels) / SQUARE_PIXELS);
}
