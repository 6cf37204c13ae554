import type { Ask } from '#lib/families/family';
import type { Rates } from '#lib/metering/price-list';

/** What a request for images or videos asks to be made, from its own parameters (decisions §6). */
export interface MadeMedia {
  /** Output tokens that take the place of a text budget; null: the request generates text. */
  readonly tokens: number | null;
  /** Price of the pieces, nano-dollars × 10⁶. */
  cost(rates: Rates, base: Rates): bigint;
}

/** Output tokens of one image by quality: those of the largest size that token-priced models offer. */
const IMAGE_TOKENS: Readonly<Record<string, number>> = { low: 408, medium: 1_584, high: 6_240 };
/** A video whose length the request does not name: the longest that providers make unasked. */
const SILENT_SECONDS = 12;

/** @returns what a call of a media family makes; of any other family, no pieces and its text budget. */
export function estimateMedia(ask: Ask): MadeMedia {
  const { family } = ask.operation;
  if (family === 'images') {
    const quality = textOf(ask, 'quality') ?? 'high';
    const each = IMAGE_TOKENS[quality] ?? IMAGE_TOKENS.high ?? 0;
    return {
      tokens: each * ask.choices,
      cost: (rates, base) =>
        BigInt(ask.choices) * unitRate(rates.image ?? base.image, textOf(ask, 'size'), quality),
    };
  }
  if (family === 'videos' || ask.operation.path.endsWith(':predictLongRunning')) {
    const seconds = secondsOf(ask);
    return {
      tokens: 0,
      cost: (rates, base) =>
        BigInt(seconds * ask.choices) *
        unitRate(rates.videoSecond ?? base.videoSecond, textOf(ask, 'size'), null),
    };
  }
  return text;
}

const text: MadeMedia = { tokens: null, cost: () => 0n };

/** The entry of a map that fits, else its dearest one: what is unknown is held at the most it may be. */
function unitRate(
  rate: bigint | Readonly<Record<string, bigint>> | undefined,
  size: string | null,
  quality: string | null,
): bigint {
  if (rate === undefined) return 0n;
  if (typeof rate === 'bigint') return rate;
  for (const key of [`${size}/${quality}`, size, quality]) {
    if (key !== null && Object.hasOwn(rate, key)) return rate[key] ?? 0n;
  }
  let dearest = 0n;
  for (const one of Object.values(rate)) if (one > dearest) dearest = one;
  return dearest;
}

/** Whole seconds of the video; a number, or a string as one dialect sends it. */
function secondsOf(ask: Ask): number {
  for (const path of ['seconds', 'parameters.durationSeconds']) {
    const value = Number(ask.scan.found.get(path)?.value ?? Number.NaN);
    if (Number.isFinite(value) && value > 0) return Math.ceil(value);
  }
  return SILENT_SECONDS;
}

function textOf(ask: Ask, path: string): string | null {
  const value = ask.scan.found.get(path)?.value;
  return typeof value === 'string' ? value : null;
}
