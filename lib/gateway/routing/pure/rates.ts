import type { Price, Rates } from '#lib/core/metering/price-list';
import { contextTier, priceOfTier } from '#lib/core/metering/service-tier';

/** What planning reads of a price, nano-dollars per million units; a class without a price costs 0. */
export interface PlainRates {
  readonly input: number;
  /** Cached input; `input` if it has no price of its own. */
  readonly cached: number;
  readonly output: number;
  /** One image, one second of video, a minute of audio or its text, and the request fee, each at its cheapest. */
  readonly piece: number;
}

/** By what offers of audio are compared: about a minute of speech. */
const usual = { characters: 1_000, audioMs: 60_000 } as const;

const plain = new WeakMap<Rates, PlainRates>();

/**
 * The rates that a call is expected to be charged at: those of the service tier that it asks for and of the context
 * tier that its input reaches, with the base for classes that they do not price (contract: money/context-tiers).
 * @param tier as `tierOf` names it; null: the standard service.
 */
export function ratesAt(price: Price, inputTokens: number, tier: string | null): PlainRates {
  const service = tier === null ? undefined : priceOfTier(price, tier)?.rates;
  const own = service ?? price.base;
  return plainOf(contextTier(service ? service.tiers : price.tiers, inputTokens)?.rates ?? own, price.base);
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
      usual.characters * Number(rates.characters ?? base.characters ?? 0n) +
      usual.audioMs * Number(rates.audioMs ?? base.audioMs ?? 0n) +
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
