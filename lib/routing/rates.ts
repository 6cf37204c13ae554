import type { Price, Rates } from '#lib/metering/price-list';

/** What planning reads of a price, nano-dollars per million units; a class without a price costs 0. */
export interface PlainRates {
  readonly input: number;
  /** Cached input; `input` where it has no price of its own. */
  readonly cached: number;
  readonly output: number;
  /** One image, one second of video and the request fee, each at its cheapest. */
  readonly piece: number;
}

const plain = new WeakMap<Rates, PlainRates>();

/**
 * The rates that apply to a call of so many input tokens: those of its context tier, with the base
 * where the tier is silent (decisions §6). Service tiers are the answer's to name, so they play no part.
 */
export function ratesAt(price: Price, inputTokens: number): PlainRates {
  const tiers = price.tiers;
  for (let at = tiers.length - 1; at >= 0; at -= 1) {
    const tier = tiers[at];
    if (tier && inputTokens > tier.aboveInputTokens) return plainOf(tier.rates, price.base);
  }
  return plainOf(price.base, price.base);
}

function plainOf(rates: Rates, base: Rates): PlainRates {
  const known = plain.get(rates);
  if (known) return known;
  const input = rates.input ?? base.input ?? 0n;
  const fresh = {
    input: Number(input),
    cached: Number(rates.cachedInput ?? (rates.input === undefined ? base.cachedInput : undefined) ?? input),
    output: Number(rates.output ?? base.output ?? 0n),
    piece:
      least(rates.image ?? base.image) +
      least(rates.videoSecond ?? base.videoSecond) +
      least(rates.request ?? base.request),
  };
  plain.set(rates, fresh);
  return fresh;
}

function least(rate: bigint | Readonly<Record<string, bigint>> | undefined): number {
  if (rate === undefined) return 0;
  if (typeof rate === 'bigint') return Number(rate);
  const all = Object.values(rate).map(Number);
  return all.length > 0 ? Math.min(...all) : 0;
}
