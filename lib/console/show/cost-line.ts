import { hourlyNano } from '#lib/core/metering/audio-rate';
import { ownFeeClass } from '#lib/core/metering/own-fee';
import { formatUsd, parseUsd } from '#lib/core/money';
import { showCount, showMoney } from '#lib/core/show-money';

const names: Record<string, string> = {
  input: 'Input',
  cachedInput: 'Cached input',
  cacheWrite5m: 'Cache write, 5 min',
  cacheWrite1h: 'Cache write, 1 h',
  output: 'Output',
  reasoning: 'Reasoning',
  audioInput: 'Audio input',
  audioOutput: 'Audio output',
  imageInput: 'Image input',
  imageOutput: 'Image output',
  cachedAudioInput: 'Cached audio input',
  cachedImageInput: 'Cached image input',
  images: 'Images',
  image: 'Images',
  videoSeconds: 'Video seconds',
  videoSecond: 'Video seconds',
  webSearches: 'Web searches',
  webSearch: 'Web searches',
  cacheStorage: 'Cache storage',
  characters: 'Characters',
  audioMs: 'Audio',
  request: 'Request',
  ownKeyFee: 'Own key: only this fee is charged',
};

/** Priced by the piece, not per million. */
const pieces = new Set(['image', 'videoSecond', 'request', 'webSearch']);

/** The name of a usage or price class; a nested model's line keeps its model: "Output (vendor/judge)". */
export function showClass(className: string): string {
  const [base = '', ...model] = className.split(':');
  const name = names[base] ?? base;
  return model.length > 0 ? `${name} (${model.join(':')})` : name;
}

/**
 * A unit price, formatted: "$2.50 per 1M", "$0.36 an hour", or "$0.04 each" for what is priced by the piece.
 * @param unitPrice dollars per million units, exact decimal.
 */
export function showUnitPrice(className: string, unitPrice: string): string {
  const [base = ''] = className.split(':');
  if (base === 'characters') return `${showMoney(unitPrice)} per 1M characters`;
  if (base === 'cacheStorage') return `${showMoney(unitPrice)} per 1M an hour`;
  if (base === 'audioMs') return `${showMoney(formatUsd(hourlyNano(parseUsd(unitPrice))))} an hour`;
  // Its unit is a nano-dollar of the list price.
  if (base === ownFeeClass) return `${formatUsd(parseUsd(unitPrice) * 100_000n)}% of list price`;
  if (!pieces.has(base)) return `${showMoney(unitPrice)} per 1M`;
  const [whole = '0', fraction = ''] = unitPrice.split('.');
  const digits = whole.padStart(7, '0');
  return `${showMoney(`${digits.slice(0, -6).replace(/^0+(?=\d)/, '')}.${digits.slice(-6)}${fraction}`)} each`;
}

/** A quantity in words: "1,204", "1,234 characters", "12.5 s of audio". */
export function showQuantity(className: string, quantity: number): string {
  const [base = ''] = className.split(':');
  if (base === 'characters') return `${showCount(quantity)} ${quantity === 1 ? 'character' : 'characters'}`;
  if (base === 'audioMs') return `${showSeconds(quantity)} s of audio`;
  if (base === 'cacheStorage') return `${showCount(quantity)} tokens × hours`;
  if (base === ownFeeClass) return showMoney(formatUsd(BigInt(quantity)));
  return showCount(quantity);
}

/** Seconds of so many milliseconds, without zeros at the end: "12.5". */
function showSeconds(ms: number): string {
  const fraction = String(ms % 1000)
    .padStart(3, '0')
    .replace(/0+$/, '');
  return `${showCount(Math.floor(ms / 1000))}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Classes that are also counted in another class, so that a reader does not add them up. */
const partOf: Record<string, string> = {
  audioInput: ', part of input',
  imageInput: ', part of input',
  cachedAudioInput: ', part of cached input',
  cachedImageInput: ', part of cached input',
  reasoning: ', part of output',
  audioOutput: ', part of output',
  imageOutput: ', part of output',
};

/** The classes of a usage that are not zero, formatted. `input` leaves out tokens that the cache served. */
export function usedClasses(usage: object): { name: string; className: string; count: string }[] {
  return Object.entries(usage)
    .filter(([, count]) => typeof count === 'number' && count > 0)
    .map(([className, count]) => ({
      className,
      name: `${showClass(className)}${partOf[className] ?? ''}`,
      count: showQuantity(className, Number(count)),
    }));
}
