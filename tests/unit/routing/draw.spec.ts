import fc from 'fast-check';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { describe, expect, it } from 'vitest';
import type { Policy } from '#lib/core/facts/snapshot';
import { plan } from '#lib/gateway/routing/pure/plan';
import { seed } from '#tests/support/run/draws';
import { catalogueOf, inputOf, modelOf, offerAt } from '#tests/unit/routing/make';

const input = inputOf({ policy: { weights: { a: 6, b: 3 } } });

function drawn(callId: string, policy: Policy = { weights: { a: 6, b: 3 } }): string[] {
  return plan({ ...(policy.weights ? inputOf({ policy }) : input), callId }).targets.map(
    (target) => target.offer.provider.id,
  );
}

/** Ids as the gateway mints them, 50 a millisecond: a counter goes on, the digits behind it are random. */
function callIds(count: number): string[] {
  const generator = xoroshiro128plus(seed);
  const digits = (many: number) => hex(uniformInt(generator, 0, 16 ** many - 1), many);
  return Array.from({ length: count }, (_, at) => {
    const time = hex(1_800_000_000_000 + Math.floor(at / 50), 12);
    const counter = hex(1_000 + (at % 50), 3);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-8${digits(3)}-${digits(6)}${digits(6)}`;
  });
}

function hex(value: number, many: number): string {
  return value.toString(16).padStart(many, '0');
}

describe('a weighted draw (contract: routing/weights)', () => {
  it('a weighted draw is stable for a call id, and orders all offers', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.record({ a: weight(), b: weight(), c: weight() }), (callId, weights) => {
        const first = drawn(callId, { weights });
        expect(drawn(callId, { weights })).toEqual(first);
        expect([...first].sort()).toEqual(['a', 'b', 'c']);
      }),
    );
  });

  it('each place is drawn in proportion to the weights of the remaining providers', () => {
    // Weights 6, 3 and, unnamed, 1. Chi-squared of six orders, 5 degrees of freedom: p = 0.001 at 20.5.
    const count = 20_000;
    const weights: Record<string, number> = { a: 6, b: 3, c: 1 };
    const seen = new Map<string, number>();
    for (const id of callIds(count)) {
      const order = drawn(id).join('');
      seen.set(order, (seen.get(order) ?? 0) + 1);
    }
    let chi = 0;
    for (const order of ['abc', 'acb', 'bac', 'bca', 'cab', 'cba']) {
      const [first = '', second = ''] = order;
      const one = (weights[first] ?? 0) / 10;
      const expected = count * one * ((weights[second] ?? 0) / (10 - (weights[first] ?? 0)));
      chi += ((seen.get(order) ?? 0) - expected) ** 2 / expected;
    }
    expect(chi).toBeLessThan(20.5);
  });

  it('first places are drawn in proportion to any weights', () => {
    const ids = callIds(2_000);
    fc.assert(
      fc.property(fc.record({ a: weight(), b: weight(), c: weight() }), (weights) => {
        const firsts = ids.filter((id) => drawn(id, { weights })[0] === 'a').length / ids.length;
        const share = weights.a / (weights.a + weights.b + weights.c);
        // Five standard deviations of 2,000 draws.
        expect(Math.abs(firsts - share)).toBeLessThan(
          5 * Math.sqrt((share * (1 - share)) / ids.length) + 1e-9,
        );
      }),
      { numRuns: 10 },
    );
  });

  it('a weighted draw keeps the providers of `order` in front and replaces `sort`', () => {
    const offers = ['a', 'b', 'c', 'd'].map((id) => offerAt(id));
    const policy: Policy = { order: ['d'], weights: { a: 1_000_000 }, sort: 'price' };
    const found = plan({ ...inputOf({ policy }), catalogue: catalogueOf(modelOf('m', offers)) });
    expect(found.targets.map((target) => target.offer.provider.id).slice(0, 2)).toEqual(['d', 'a']);
  });
});

function weight() {
  return fc.double({ min: 0.1, max: 100, noNaN: true });
}
