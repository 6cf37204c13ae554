import { describe, expect, it } from 'vitest';
import { price } from '#lib/core/metering/price';
import type { Price } from '#lib/core/metering/price-list';
import { coversTier, tierOf } from '#lib/core/metering/service-tier';
import { type UsageReport, usageOf } from '#lib/core/metering/usage';

const dollar = 1_000_000_000n;
const list: Price = {
  base: { input: 2n * dollar, output: 8n * dollar },
  tiers: [{ aboveInputTokens: 1_000_000, rates: { input: 4n * dollar, output: 12n * dollar } }],
  serviceTiers: {
    flex: {
      input: dollar,
      output: 4n * dollar,
      tiers: [{ aboveInputTokens: 1_000_000, rates: { input: 3n * dollar, output: 6n * dollar } }],
    },
    priority: { input: 4n * dollar, output: 16n * dollar },
    fast: { input: 5n * dollar, output: 20n * dollar },
  },
};

function charge(serviceTier: string | null, input = 1_000_000, more: Partial<UsageReport> = {}) {
  const report = { usage: usageOf({ input }), serviceTier, nested: [], flags: [], ...more };
  const { costNano, flags } = price(report, list, new Map());
  return { dollars: Number(costNano) / Number(dollar), flags };
}

describe('the name of a service tier (contract: money/service-tiers)', () => {
  it.each(['auto', 'default', 'standard', 'standard_only', 'on_demand', 'unspecified', 'AUTO'])(
    '%s is the standard service',
    (name) => expect(tierOf(name)).toBeNull(),
  );

  it.each([
    [['priority'], 'priority'],
    [['Priority'], 'priority'],
    [['SERVICE_TIER_FLEX'], 'flex'],
    [['SERVICE_TIER_STANDARD'], null],
    [['fast', 'auto'], 'fast'],
    [['fast', 'fast'], 'fast'],
    [['fast', 'priority'], 'fast+priority'],
    [[null, null], null],
    [[''], ''],
  ])('of %j is %j', (named, tier) => expect(tierOf(...named)).toBe(tier));

  it('a tier is covered only by a price that has all of it', () => {
    expect(coversTier(list, null)).toBe(true);
    expect(coversTier(list, 'flex')).toBe(true);
    for (const tier of ['scale', 'fast+priority', 'constructor', '__proto__', '']) {
      expect(coversTier(list, tier), tier).toBe(false);
    }
  });
});

describe('the charge at a service tier (contract: money/service-tiers, money/tier-unpriced)', () => {
  it.each([
    ['priority', 4],
    ['flex', 1],
    ['default', 2],
    [null, 2],
  ])('%s is that of the tier that the answer names', (tier, dollars) => {
    expect(charge(tier)).toEqual({ dollars, flags: [] });
  });

  it('the charge at a tier without a price is the base price, and flagged', () => {
    expect(charge('scale')).toEqual({ dollars: 2, flags: ['unpriced_tier'] });
  });

  it('the charge at several joined tiers is that of the first one with a price, and flagged', () => {
    expect(charge('fast+scale')).toEqual({ dollars: 5, flags: ['unpriced_tier'] });
  });

  it('long input is charged by the tier’s own context tiers; without them the tier costs the same', () => {
    expect(charge('flex', 2_000_000).dollars).toBe(6);
    expect(charge('priority', 2_000_000).dollars).toBe(8);
    expect(charge(null, 2_000_000).dollars).toBe(8);
  });

  it('the charge of a nested model that served is flagged if it has no price for the tier', () => {
    const plain: Price = { base: { output: dollar }, tiers: [], serviceTiers: {} };
    const usage = usageOf({ output: 1_000_000 });
    const flagsOf = (served: object) => {
      const nested = [{ upstreamModel: 'other', usage, ...served }];
      const report = { usage: usageOf({}), serviceTier: 'fast', nested, flags: [] };
      return price(report, list, new Map([['other', plain]]));
    };
    expect(flagsOf({ served: true })).toMatchObject({ costNano: dollar, flags: ['unpriced_tier'] });
    expect(flagsOf({})).toMatchObject({ costNano: dollar, flags: [] });
  });
});
