import { hourlyNano } from '#lib/core/metering/audio-rate';
import type { Price, Rates } from '#lib/core/metering/price-list';
import { formatUsd } from '#lib/core/money';

/** What a price is for. */
export const rateUnits = [
  'million tokens',
  'million tokens an hour',
  'million characters',
  'hour',
  'one',
] as const;
export type RateUnit = (typeof rateUnits)[number];

/** One rate of a band. */
export interface ListedRate {
  /** A price class: "input", "cachedInput", "image". */
  class: string;
  /** Size, quality or resolution, where that decides; null: one price for all. */
  variant: string | null;
  /** What the price is for. */
  unit: RateUnit;
  /** Dollars, exact decimal. */
  usd: string;
}

/** The rates that hold at one service tier from one length of input on. */
export interface PriceBand {
  /** "default", or the name of the service tier. */
  tier: string;
  /** Above so many input tokens; null: from the first one on. */
  aboveInputTokens: number | null;
  rates: ListedRate[];
}

const pieces: ReadonlySet<string> = new Set(['image', 'videoSecond', 'request', 'webSearch']);
const PIECES_PER_RATE = 1_000_000n;

/** All that a price says, in dollars: the standard service first, each tier by rising length of input. Pure. */
export function listPrice(price: Price): PriceBand[] {
  return [
    ...bandsOf('default', price.base, price.tiers),
    ...Object.entries(price.serviceTiers).flatMap(([name, { tiers = [], ...rates }]) =>
      bandsOf(name, rates, tiers),
    ),
  ];
}

function bandsOf(tier: string, base: Rates, tiers: Price['tiers']): PriceBand[] {
  return [
    { tier, aboveInputTokens: null, rates: ratesOf(base) },
    ...tiers.map(({ aboveInputTokens, rates }) => ({ tier, aboveInputTokens, rates: ratesOf(rates) })),
  ];
}

function ratesOf(rates: Rates): ListedRate[] {
  return Object.entries(rates).flatMap(([name, rate]: [string, bigint | Record<string, bigint>]) => {
    const unit = unitOf(name);
    const one = (variant: string | null, nano: bigint): ListedRate => ({
      class: name,
      variant,
      unit,
      usd: rateUsd(name, nano),
    });
    if (typeof rate === 'bigint') return [one(null, rate)];
    return Object.entries(rate).map(([variant, nano]) => one(variant === 'default' ? null : variant, nano));
  });
}

/** A stored rate of a price class in dollars for its unit. Pure. */
export function rateUsd(name: string, nano: bigint): string {
  const unit = unitOf(name);
  if (unit === 'hour') return formatUsd(hourlyNano(nano));
  return unit === 'one' ? perPiece(nano) : formatUsd(nano);
}

function unitOf(name: string): RateUnit {
  if (name === 'characters') return 'million characters';
  if (name === 'cacheStorage') return 'million tokens an hour';
  if (name === 'audioMs') return 'hour';
  return pieces.has(name) ? 'one' : 'million tokens';
}

/** Rates of pieces are stored per million of them. */
function perPiece(nano: bigint): string {
  const whole = nano / PIECES_PER_RATE;
  const rest = nano % PIECES_PER_RATE;
  if (rest === 0n) return formatUsd(whole);
  const [dollars = '0', decimals = ''] = formatUsd(whole).split('.');
  return `${dollars}.${decimals.padEnd(9, '0')}${rest.toString().padStart(6, '0').replace(/0+$/, '')}`;
}
