import { showClass } from '#lib/console/show/cost-line';
import { plainUsd } from '#lib/core/money';
import { showCount } from '#lib/core/show-money';

/** A price in the format of catalogue files: rates, maps of rates by size or quality, context tiers, service tiers. */
export type FormPrice = Readonly<Record<string, unknown>>;

/** One amount of a price, as a field of a form. */
export interface PriceLine {
  /** Unique in the price. */
  readonly name: string;
  /** Of which tier it is; '' for the base. */
  readonly group: string;
  readonly label: string;
  readonly unit: string;
  /** Dollars as a decimal string. */
  readonly usd: string;
}

const pieces = ['image', 'videoSecond', 'request', 'webSearch'] as const;
const rateClasses = [
  ...['input', 'cachedInput', 'cacheWrite5m', 'cacheWrite1h', 'output', 'reasoning'],
  ...['audioInput', 'audioOutput', 'imageInput', 'imageOutput', 'cachedAudioInput', 'cachedImageInput'],
  ...pieces,
  'cacheStorage',
];

/** The rates that a price does not have yet and may get. Pure. */
export function missingRates(price: FormPrice): { readonly value: string; readonly label: string }[] {
  return rateClasses
    .filter((name) => price[name] === undefined)
    .map((value) => ({ value, label: showClass(value) }));
}

/** Every amount of a price; those of the base come first. Pure. */
export function priceLines(price: FormPrice): PriceLine[] {
  const lines: PriceLine[] = [];
  withRates(price, { group: '', path: '' }, (line) => {
    lines.push(line);
    return line.usd;
  });
  return [...Map.groupBy(lines, ({ group }) => group).values()].flat();
}

/**
 * The price with the amounts that a form has for its lines, typed as people do; an empty one removes the rate. Pure.
 * @param typed by name of the line; missing: unchanged.
 */
export function priceTyped(price: FormPrice, typed: Readonly<Record<string, string>>): FormPrice {
  return withRates(price, { group: '', path: '' }, ({ name, usd }) => plainUsd((typed[name] ?? usd).trim()));
}

interface Place {
  readonly group: string;
  readonly path: string;
}

/** The same price with the amounts that `visit` returns; those that are empty are left out. */
function withRates(price: FormPrice, { group, path }: Place, visit: (line: PriceLine) => string): FormPrice {
  const entries = Object.entries(price).map(([key, value]): [string, unknown] => {
    const place = { group, path: `${path}${key}.` };
    if (typeof value === 'string') return [key, visit(lineOf(key, null, value, place)) || undefined];
    if (key === 'tiers' && Array.isArray(value)) {
      return [key, value.map((tier, at) => withRates(tier, tierPlace(tier, at, place), visit))];
    }
    if (!isRecord(value)) return [key, value];
    if (key === 'serviceTiers') {
      const tiers = Object.entries(value).map(([name, rates]) => {
        const own = { group: `Service tier ${name}`, path: `${place.path}${name}.` };
        return [name, isRecord(rates) ? withRates(rates, own, visit) : rates];
      });
      return [key, Object.fromEntries(tiers)];
    }
    const rates = Object.entries(value).flatMap(([variant, usd]) => {
      const text = visit(lineOf(key, variant, String(usd), place));
      return text === '' ? [] : [[variant, text]];
    });
    return [key, rates.length > 0 ? Object.fromEntries(rates) : undefined];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function tierPlace(tier: FormPrice, at: number, { group, path }: Place): Place {
  const above = `above ${showCount(Number(tier.aboveInputTokens))} input tokens`;
  return { group: group === '' ? `Calls ${above}` : `${group}, ${above}`, path: `${path}${at}.` };
}

function lineOf(key: string, variant: string | null, usd: string, { group, path }: Place): PriceLine {
  return {
    name: `${path}${variant ?? ''}`,
    group,
    label: variant === null ? showClass(key) : `${showClass(key)}, ${variant}`,
    unit: unitOf(key),
    usd,
  };
}

function unitOf(key: string): string {
  if (key === 'cacheStorage') return 'per million tokens an hour';
  return pieces.some((one) => one === key) ? 'each' : 'per million tokens';
}

function isRecord(value: unknown): value is FormPrice {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
