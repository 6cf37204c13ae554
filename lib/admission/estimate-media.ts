import type { Ask } from '#lib/families/family';
import { unitsOf } from '#lib/families/reading/video';
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
/** A remix is as long as the video that it starts from, which the request does not tell. */
const REMIX_SECONDS = 20;

/** @returns what a call of a media family makes; of any other family, no pieces and its text budget. */
export function estimateMedia(ask: Ask): MadeMedia {
  const { family } = ask.operation;
  if (family === 'images') {
    const quality = textOf(ask, 'quality') ?? 'high';
    const each = IMAGE_TOKENS[quality] ?? IMAGE_TOKENS.high ?? 0;
    return {
      tokens: each * ask.choices,
      cost: (rates, base) =>
        BigInt(ask.choices) * unitRate(rates.image ?? base.image, imageUnits(textOf(ask, 'size'), quality)),
    };
  }
  if (family === 'videos' || ask.operation.path.endsWith(':predictLongRunning')) {
    const { job = {} } = ask;
    const silent = ask.operation.resource ? REMIX_SECONDS : SILENT_SECONDS;
    const seconds = typeof job.seconds === 'number' ? job.seconds : silent;
    return {
      tokens: 0,
      cost: (rates, base) =>
        BigInt(seconds * ask.choices) * unitRate(rates.videoSecond ?? base.videoSecond, unitsOf(job)),
    };
  }
  return text;
}

const text: MadeMedia = { tokens: null, cost: () => 0n };

function imageUnits(size: string | null, quality: string): readonly string[] {
  return size === null ? [quality] : [`${size}/${quality}`, size, quality];
}

/** The entry of a map that fits, else its dearest one: what is unknown is held at the most it may be. */
function unitRate(
  rate: bigint | Readonly<Record<string, bigint>> | undefined,
  units: readonly string[],
): bigint {
  if (rate === undefined) return 0n;
  if (typeof rate === 'bigint') return rate;
  for (const key of units) if (Object.hasOwn(rate, key)) return rate[key] ?? 0n;
  let dearest = 0n;
  for (const one of Object.values(rate)) if (one > dearest) dearest = one;
  return dearest;
}

function textOf(ask: Ask, path: string): string | null {
  const value = ask.scan.found.get(path)?.value;
  return typeof value === 'string' ? value : null;
}
