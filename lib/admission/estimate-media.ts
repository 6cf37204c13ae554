import type { Ask } from '#lib/families/family';
import { PARTIAL_TOKENS } from '#lib/families/images/output';
import { outputTokensOf } from '#lib/families/images/tokens';
import { unitsOf } from '#lib/families/reading/video';
import type { Rates } from '#lib/metering/price-list';

/** What a request for images or videos asks to be made, from its own parameters (contract: money/media-hold). */
export interface MadeMedia {
  /** Output tokens that take the place of a text budget; null: the request generates text. */
  readonly tokens: number | null;
  /** Price of the pieces, nano-dollars × 10⁶. */
  cost(rates: Rates, base: Rates): bigint;
}

/** Text that a model of images may write beside each of them. */
const BESIDE_TOKENS = 512;
/** What a nested model writes to draw a vector graphic. */
const NESTED_TOKENS = 8_192;
/** Frames of a moving picture whose request names none. */
const SILENT_FRAMES = 9;
/** A video whose length the request does not name: the longest that providers make unasked. */
const SILENT_SECONDS = 12;
/** A remix is as long as the video that it starts from, which the request does not tell. */
const REMIX_SECONDS = 20;

/** @returns what a call of a media family makes; of any other family, no pieces and its text budget. */
export function estimateMedia(ask: Ask): MadeMedia {
  const { family } = ask.operation;
  if (family === 'images') {
    const [size, quality] = [textOf(ask, 'size'), textOf(ask, 'quality')];
    return {
      tokens: imageTokens(ask, size, quality),
      cost: (rates, base) =>
        BigInt(ask.choices) * unitRate(rates.image ?? base.image, imageUnits(size, quality)),
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

function imageTokens(ask: Ask, size: string | null, quality: string | null): number {
  const partial = (numberOf(ask, 'partial_images') ?? 0) * PARTIAL_TOKENS;
  const moving = textOf(ask, 'output_format') === 'gif';
  const frames = moving ? Math.max(1, numberOf(ask, 'frame_count') ?? SILENT_FRAMES) : 1;
  const each = outputTokensOf(size, quality) * frames + partial + BESIDE_TOKENS;
  return ask.choices * (each + (ask.nested ? NESTED_TOKENS : 0));
}

/** A quality that is left to the provider may be its best: then the dearest entry is held. */
function imageUnits(size: string | null, quality: string | null): readonly string[] {
  if (size === null || quality === null) return [size ?? quality ?? ''];
  return [`${size}/${quality}`, size, quality];
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

function numberOf(ask: Ask, path: string): number | null {
  const value = ask.scan.found.get(path)?.value;
  return typeof value === 'number' ? value : null;
}

function textOf(ask: Ask, path: string): string | null {
  const value = ask.scan.found.get(path)?.value;
  return typeof value === 'string' ? value : null;
}
