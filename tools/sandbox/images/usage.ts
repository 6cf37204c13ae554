import { textTokens } from '#tools/sandbox/content/tokens';
import type { Truth } from '#tools/sandbox/dialect';
import type { ImagesAsk } from '#tools/sandbox/images/ask';
import type { UsageFigures } from '#tools/sandbox/scenario/behaviour';
import { reported } from '#tools/sandbox/scenario/bend';

/** What one image of an answer costs in tokens. */
export interface ImageTokens {
  readonly textIn: number;
  readonly imageIn: number;
  readonly textOut: number;
  readonly imageOut: number;
}

const perQuality: Readonly<Record<string, number>> = { low: 272, medium: 1_056, high: 4_160 };
/** Of each partial image, part of its image's output. */
const PARTIAL_TOKENS = 100;

/**
 * Tokens of each image: simple on purpose, so that tests can predict them. An input picture is 194 tokens,
 * whatever its size; the input is counted again for each image.
 * @param textOut text that the model writes beside each image.
 */
export function tokensOf(ask: ImagesAsk, textOut: number): ImageTokens {
  const quality = perQuality[qualityOf(ask)] ?? 4_160;
  const [width = 1024, height = 1024] = sizeOf(ask).split('x').map(Number);
  const drawn = Math.ceil((quality * width * height) / 1024 ** 2);
  return {
    textIn: textTokens(ask.prompt),
    imageIn: ask.pictures.length * 194,
    textOut,
    imageOut: drawn + (ask.stream ? ask.partialImages * PARTIAL_TOKENS : 0),
  };
}

/** `auto` is medium. */
export function qualityOf({ quality }: ImagesAsk): string {
  return quality === 'auto' ? 'medium' : quality;
}

export function sizeOf({ size }: ImagesAsk): string {
  return size === 'auto' ? '1024x1024' : size;
}

export function truthOf(ask: ImagesAsk, { textIn, imageIn, textOut, imageOut }: ImageTokens): Truth {
  return {
    inputTokens: (textIn + imageIn) * ask.n,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: (textOut + imageOut) * ask.n,
    reasoningTokens: 0,
    serviceTier: null,
    images: ask.n,
  };
}

/**
 * The usage object of this many images. @param split whether the output is split: not in events of a stream.
 */
export function imagesUsage(
  { textIn, imageIn, textOut, imageOut }: ImageTokens,
  count: number,
  figures: UsageFigures,
  split: boolean,
): object | null | undefined {
  return reported(figures, (bend) => {
    const of = (tokens: number) => bend(tokens * count);
    return {
      input_tokens: of(textIn + imageIn),
      input_tokens_details: { text_tokens: of(textIn), image_tokens: of(imageIn) },
      output_tokens: of(textOut + imageOut),
      ...(split ? { output_tokens_details: { text_tokens: of(textOut), image_tokens: of(imageOut) } } : {}),
      total_tokens: of(textIn + imageIn + textOut + imageOut),
    };
  });
}
