import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { price } from '#lib/core/metering/price';
import type { Price } from '#lib/core/metering/price-list';
import { repriced } from '#lib/core/metering/reprice';
import { usageOf } from '#lib/core/metering/usage';

const none = new Map<string, Price>();
const charged: Price = {
  base: { input: 2_000_000_000n, cachedInput: 500_000_000n, output: 8_000_000_000n },
  tiers: [{ aboveInputTokens: 1_000, rates: { input: 4_000_000_000n, output: 12_000_000_000n } }],
  serviceTiers: { flex: { input: 1_000_000_000n, output: 4_000_000_000n } },
};
const other: Price = {
  base: {
    input: 2_500_000_001n,
    output: 7_000_000_003n,
    reasoning: 9_000_000_007n,
    request: 1_000_000_000_000n,
  },
  tiers: [],
  serviceTiers: { flex: { input: 1_500_000_000n, output: 3_000_000_000n } },
};

/** A call as it is charged: by the pricing function, at the tier that its answer named. */
function chargedCall(
  usage: ReturnType<typeof usageOf>,
  serviceTier: string | null,
  own = charged,
  unit?: string,
) {
  const { costNano, lines } = price({ usage, serviceTier, nested: [], flags: [] }, own, none, unit);
  return { usage, lines, costNano };
}

describe('a call at other prices (contract: money/price-preview)', () => {
  it('a repriced call costs to the nano-dollar what the pricing function gives for its usage, at every tier', () => {
    const count = fc.integer({ min: 0, max: 5_000 });
    const usages = fc.record({ input: count, cachedInput: count, output: count, reasoning: count });
    fc.assert(
      fc.property(usages, fc.constantFrom(null, 'flex'), (figures, tier) => {
        const usage = usageOf(figures);
        const call = chargedCall(usage, tier);
        fc.pre(call.costNano > 0n);
        const same = chargedCall(usage, null).costNano === call.costNano;
        const expected = chargedCall(usage, same ? null : tier, other).costNano;
        expect(repriced(call, charged, other)).toBe(expected);
        expect(repriced(call, charged, charged)).toBe(call.costNano);
      }),
    );
  });

  it('a repriced call keeps the size of what was made', () => {
    const pictures = (small: bigint, large: bigint): Price => ({
      base: { image: { small, large } },
      tiers: [],
      serviceTiers: {},
    });
    const [was, is] = [pictures(1_000_000n, 4_000_000n), pictures(1_100_000n, 5_500_000n)];
    const call = chargedCall(usageOf({ images: 3 }), null, was, 'large');
    expect([call.costNano, repriced(call, was, is)]).toEqual([12n, 17n]);
  });

  it('a call is not repriced if the log does not show how it was charged', () => {
    const call = chargedCall(usageOf({ input: 100, output: 10 }), null);
    expect(repriced({ ...call, costNano: call.costNano - 1n }, charged, other)).toBeNull();
    expect(repriced({ ...call, usage: usageOf({ input: 200, output: 10 }) }, charged, other)).toBeNull();
    const nested = [...call.lines, { class: 'input:advisor', quantity: 5, unitPriceNano: 1n }];
    expect(repriced({ ...call, lines: nested }, charged, other)).toBeNull();
  });
});
