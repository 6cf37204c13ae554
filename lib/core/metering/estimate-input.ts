import type { InputWeight } from '#lib/core/families/family';
import type { Usage } from '#lib/core/metering/usage';

const IMAGE_TOKENS = 2_500;

/**
 * Input tokens of a call whose provider reported none: text bytes ÷ 4, media as in the hold
 * (contract: money/estimate).
 * @param contextTokens bound of each kind of file, when the model is known.
 */
export function estimateInput(weight: InputWeight, contextTokens = Number.MAX_SAFE_INTEGER): number {
  const { images, sound, files } = mediaTokens(weight, contextTokens);
  return Math.ceil(weight.textBytes / 4) + images + sound + files;
}

/** The same estimate as usage, in the classes that have prices of their own, as in the hold. */
export function estimatedInput(weight: InputWeight): Pick<Usage, 'input' | 'imageInput' | 'audioInput'> {
  const { images, sound } = mediaTokens(weight, Number.MAX_SAFE_INTEGER);
  return { input: estimateInput(weight), imageInput: images, audioInput: sound };
}

/** Tokens of what is not text. @param context most tokens that a file can take. */
export function mediaTokens(weight: InputWeight, context: number) {
  return {
    images: weight.images * IMAGE_TOKENS,
    sound: Math.ceil(weight.audioVideoBytes / 400),
    files: Math.min(Math.ceil(weight.fileBytes / 3), context),
  };
}
