import { describe, expect, it } from 'vitest';
import { type NamedPrice, nestedPrices } from '#lib/core/metering/nested-prices';
import { usageOf } from '#lib/core/metering/usage';
import { nestedFacts, nestedVersions } from '#lib/gateway/jobs/nested-facts';

const priced = (input: bigint) => ({ base: { input }, tiers: [], serviceTiers: {} });
const known: NamedPrice[] = [
  ['mini', priced(1n)],
  ['mini-20250101', priced(2n)],
  ['v/pictures', priced(3n)],
];
const reportOf = (...names: string[]) => ({
  nested: names.map((upstreamModel) => ({ upstreamModel, usage: usageOf({ input: 1 }) })),
});

describe('the price of a nested model (contract: money/nested-models)', () => {
  it.each([
    ['mini', 1n],
    ['mini-20250101', 2n],
    ['mini-20250929', 1n],
    ['v/pictures', 3n],
  ])('is found by the name that the answer gives it: %s', (name, input) => {
    expect(nestedPrices(reportOf(name), known)).toEqual(new Map([[name, priced(input)]]));
  });

  it('a nested model whose name only resembles a known one has no price', () => {
    expect(nestedPrices(reportOf('mini-pro', 'mini-', 'mini2', 'pictures'), known)).toEqual(new Map());
  });

  it('nested prices are stored with a job under both names, and no other fact is mistaken for one', () => {
    const price = { id: 'version-1', price: priced(3n), effectiveAtMs: 0 };
    const facts = nestedFacts(new Map([['v/pictures', { upstreamModel: 'mini', price }]]));
    expect(nestedVersions({ imageModel: 'v/pictures', seconds: 8, ...facts })).toEqual([
      ['v/pictures', 'version-1'],
      ['mini', 'version-1'],
    ]);
    expect(nestedFacts(undefined)).toEqual({});
  });
});
