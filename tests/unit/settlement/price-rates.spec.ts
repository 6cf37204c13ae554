import { describe, expect, it } from 'vitest';
import { price } from '#lib/core/metering/price';
import type { Price, Rates } from '#lib/core/metering/price-list';
import { type Usage, type UsageReport, usageOf } from '#lib/core/metering/usage';

const usd = (dollars: number) => BigInt(dollars * 1000) * 1_000_000n;
const report = (usage: Partial<Usage>, extra: Partial<UsageReport> = {}): UsageReport => ({
  usage: usageOf(usage),
  serviceTier: null,
  nested: [],
  flags: [],
  ...extra,
});
const listOf = (base: Rates, extra: Partial<Price> = {}): Price => ({
  base,
  tiers: [],
  serviceTiers: {},
  ...extra,
});
const cost = (r: UsageReport, list: Price, key?: string) => price(r, list, new Map(), key);

describe('the price of a call (contract: money/price-classes, money/missing-class)', () => {
  it('never rounds a cheap token away: one token at $0.02 per million costs 20 nano-dollars', () => {
    expect(cost(report({ input: 1 }), listOf({ input: usd(0.02) })).costNano).toBe(20n);
  });

  it('is rounded once a call and up, not once a line', () => {
    const list = listOf({ input: 1n, cachedInput: 1n, output: 1n });
    const priced = cost(report({ input: 1, cachedInput: 1, output: 1 }), list);
    expect(priced.costNano).toBe(1n);
    expect(priced.lines.map((line) => line.unitPriceNano)).toEqual([1n, 1n, 1n]);
  });

  it('charges an unpriced class at the rate of its parent', () => {
    const list = listOf({ input: usd(2), output: usd(8) });
    const priced = cost(
      report({
        input: 10,
        cachedInput: 20,
        cacheWrite5m: 30,
        cacheWrite1h: 40,
        audioInput: 5,
        output: 10,
        reasoning: 7,
      }),
      list,
    );
    expect(priced.lines.map((line) => [line.class, line.quantity, line.unitPriceNano])).toEqual([
      ['input', 10, usd(2)],
      ['cachedInput', 20, usd(2)],
      ['cacheWrite5m', 30, usd(2)],
      ['cacheWrite1h', 40, usd(2)],
      ['output', 10, usd(8)],
    ]);
    expect(priced.flags).toEqual([]);
  });

  it('carves a part that is priced apart out of its parent, never more than the parent holds', () => {
    const list = listOf({ input: usd(2), audioInput: usd(40), output: usd(8), reasoning: usd(3) });
    const quantities = (r: UsageReport) =>
      Object.fromEntries(cost(r, list).lines.map((line) => [line.class, line.quantity]));
    expect(quantities(report({ input: 100, audioInput: 30, output: 50, reasoning: 20 }))).toEqual({
      input: 70,
      audioInput: 30,
      output: 30,
      reasoning: 20,
    });
    expect(quantities(report({ input: 10, audioInput: 30 }))).toEqual({ audioInput: 10 });
  });

  it('charges cached audio and images at their own price, and without one as other cached input', () => {
    const used = { cachedInput: 100, cachedAudioInput: 60, cachedImageInput: 30 };
    const lines = (base: Rates, tier: Rates = base) => {
      const list = listOf(base, { serviceTiers: { flex: tier } });
      return cost(report(used, { serviceTier: 'flex' }), list).lines.map(
        (line) => [line.class, line.quantity, line.unitPriceNano] as const,
      );
    };
    const base = { input: usd(4), cachedInput: usd(1), cachedAudioInput: usd(3), cachedImageInput: usd(2) };
    expect(lines(base)).toEqual([
      ['cachedInput', 10, usd(1)],
      ['cachedAudioInput', 60, usd(3)],
      ['cachedImageInput', 30, usd(2)],
    ]);
    expect(lines({ input: usd(4), cachedInput: usd(1) })).toEqual([['cachedInput', 100, usd(1)]]);
    expect(lines({ input: usd(4), cachedAudioInput: usd(3) })).toEqual([
      ['cachedInput', 40, usd(4)],
      ['cachedAudioInput', 60, usd(3)],
    ]);
    // A tier with a price for cached input does not take that of cached audio from the base.
    expect(lines(base, { cachedInput: usd(0.5) })).toEqual([['cachedInput', 100, usd(0.5)]]);
  });

  it('applies a context tier to the whole call once all its input together passes the bound', () => {
    const list = listOf(
      { input: usd(1), output: usd(10), cachedInput: usd(0.5) },
      { tiers: [{ aboveInputTokens: 200, rates: { input: usd(2), output: usd(15) } }] },
    );
    const rates = (r: UsageReport) => cost(r, list).lines.map((line) => line.unitPriceNano);
    expect(rates(report({ input: 100, cachedInput: 100, output: 1 }))).toEqual([usd(1), usd(0.5), usd(10)]);
    expect(rates(report({ input: 100, cachedInput: 100, cacheWrite1h: 1, output: 1 }))).toEqual([
      usd(2),
      usd(2),
      usd(2),
      usd(15),
    ]);
  });

  it('takes the service tier that the answer names, and the base rates for one that is not listed', () => {
    const list = listOf({ input: usd(2) }, { serviceTiers: { flex: { input: usd(1) } } });
    expect(cost(report({ input: 1_000_000 }, { serviceTier: 'flex' }), list).costNano).toBe(usd(1));
    expect(cost(report({ input: 1_000_000 }, { serviceTier: 'default' }), list).costNano).toBe(usd(2));
    expect(cost(report({ input: 1_000_000 }, { serviceTier: 'constructor' }), list).costNano).toBe(usd(2));
  });

  it('keeps fees that a tier does not name', () => {
    const list = listOf(
      { input: usd(2), request: usd(1), webSearch: usd(10) },
      { serviceTiers: { flex: { input: usd(1) } } },
    );
    const lines = cost(report({ input: 1, webSearches: 2 }, { serviceTier: 'flex' }), list).lines;
    expect(lines.map((line) => [line.class, line.quantity, line.unitPriceNano])).toEqual([
      ['input', 1, usd(1)],
      ['webSearch', 2, usd(10)],
      ['request', 1, usd(1)],
    ]);
  });

  it('charges nothing for images, video seconds and searches without a price, and flags them', () => {
    const priced = cost(report({ images: 1, videoSeconds: 4, webSearches: 2 }), listOf({ input: usd(2) }));
    expect(priced.costNano).toBe(0n);
    expect(priced.flags).toEqual(['unpriced_image', 'unpriced_videoSecond', 'unpriced_webSearch']);
  });

  it('prices an image by its size and quality, an unknown one as the cheapest and flagged', () => {
    const list = listOf({ image: { '1024x1024/high': usd(4), '1024x1024/low': usd(1) } });
    expect(cost(report({ images: 1_000_000 }), list, '1024x1024/high').costNano).toBe(usd(4));
    const unknown = cost(report({ images: 1_000_000 }), list, '7x7/odd');
    expect(unknown.costNano).toBe(usd(1));
    expect(unknown.flags).toEqual(['unpriced_image_size']);
  });

  it('prices what a nested model used by its own offer and names it in the line', () => {
    const nested = [
      { upstreamModel: 'small', usage: usageOf({ output: 1_000_000 }) },
      { upstreamModel: 'unknown', usage: usageOf({ output: 1_000_000 }) },
    ];
    const own = listOf({ input: usd(2), output: usd(8) });
    const priced = price(report({}, { nested }), own, new Map([['small', listOf({ output: usd(1) })]]));
    expect(priced.costNano).toBe(usd(9));
    expect(priced.lines.map((line) => line.class)).toEqual(['output:small', 'output:unknown']);
    expect(priced.flags).toEqual(['unpriced_nested']);
  });
});
