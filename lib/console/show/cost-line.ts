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
  images: 'Images',
  image: 'Images',
  videoSeconds: 'Video seconds',
  videoSecond: 'Video seconds',
  webSearches: 'Web searches',
  webSearch: 'Web searches',
  request: 'Request',
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
 * A unit price, formatted: "$2.50 per 1 M", or "$0.04 each" for what is priced by the piece.
 * @param unitPrice dollars per million units, exact decimal.
 */
export function showUnitPrice(className: string, unitPrice: string): string {
  if (!pieces.has(className.split(':')[0] ?? '')) return `${showMoney(unitPrice)} per 1 M`;
  const [whole = '0', fraction = ''] = unitPrice.split('.');
  const digits = whole.padStart(7, '0');
  return `${showMoney(`${digits.slice(0, -6).replace(/^0+(?=\d)/, '')}.${digits.slice(-6)}${fraction}`)} each`;
}

/** Classes that are also counted in another class, so that a reader does not add them up. */
const partOf: Record<string, string> = {
  audioInput: ', part of input',
  imageInput: ', part of input',
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
      count: showCount(Number(count)),
    }));
}
