import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { price } from '#lib/core/metering/price';
import type { Price, Rates } from '#lib/core/metering/price-list';
import { noUsage, type Usage } from '#lib/core/metering/usage';

const rate = fc.bigInt({ min: 0n, max: 1_000_000_000_000n });
const rates = fc.record(
  {
    input: rate,
    cachedInput: rate,
    cacheWrite5m: rate,
    cacheWrite1h: rate,
    output: rate,
    reasoning: rate,
    audioInput: rate,
    audioOutput: rate,
    imageInput: rate,
    imageOutput: rate,
    cachedAudioInput: rate,
    cachedImageInput: rate,
    image: rate,
    videoSecond: rate,
    request: rate,
    webSearch: rate,
  },
  { requiredKeys: [] },
);
const count = fc.oneof(fc.nat(3), fc.nat(2_000_000));
const usage = fc.record(
  Object.fromEntries(Object.keys(noUsage).map((name) => [name, count])) as Record<keyof Usage, typeof count>,
);
const flat = (base: Partial<Rates>): Price => ({ base: base as Rates, tiers: [], serviceTiers: {} });
const priced = (used: Usage, list: Price) =>
  price({ usage: used, serviceTier: null, nested: [], flags: [] }, list, new Map());

/** The charge by the words of the rule alone, in exact rationals with one rounding up at the end. */
function charged(used: Usage, base: Partial<Rates>): bigint {
  let millionths = 0n;
  const add = (quantity: number, each: unknown) => {
    millionths += BigInt(quantity) * (typeof each === 'bigint' ? each : 0n);
  };
  const parent = (total: number, parts: [number, bigint | undefined][], each: bigint | undefined) => {
    let rest = total;
    for (const [part, apart] of parts) {
      if (apart === undefined) continue;
      const taken = Math.min(part, rest);
      rest -= taken;
      add(taken, apart);
    }
    add(rest, each);
  };
  parent(
    used.input,
    [
      [used.audioInput, base.audioInput],
      [used.imageInput, base.imageInput],
    ],
    base.input,
  );
  parent(
    used.output,
    [
      [used.reasoning, base.reasoning],
      [used.audioOutput, base.audioOutput],
      [used.imageOutput, base.imageOutput],
    ],
    base.output,
  );
  parent(
    used.cachedInput,
    [
      [used.cachedAudioInput, base.cachedAudioInput],
      [used.cachedImageInput, base.cachedImageInput],
    ],
    base.cachedInput ?? base.input,
  );
  add(used.cacheWrite5m, base.cacheWrite5m ?? base.input);
  add(used.cacheWrite1h, base.cacheWrite1h ?? base.input);
  add(used.images, base.image);
  add(used.videoSeconds, base.videoSecond);
  add(used.webSearches, base.webSearch);
  add(1, base.request);
  return millionths / 1_000_000n + (millionths % 1_000_000n > 0n ? 1n : 0n);
}

describe('every price (contract: money/nano-dollars)', () => {
  it('equals the exact sum of quantity × rate, rounded up once', () => {
    fc.assert(
      fc.property(usage, rates, (used, base) => {
        expect(priced(used, flat(base)).costNano).toBe(charged(used, base));
      }),
      { numRuns: 1000 },
    );
  });

  it('can be recomputed from only its lines', () => {
    fc.assert(
      fc.property(usage, rates, (used, base) => {
        const { costNano, lines } = priced(used, flat(base));
        let byRate = 0n;
        for (const line of lines) byRate += BigInt(line.quantity) * line.unitPriceNano;
        expect((byRate + 999_999n) / 1_000_000n).toBe(costNano);
      }),
      { numRuns: 1000 },
    );
  });

  it('never falls when a whole class of usage grows', () => {
    const whole = [
      'input',
      'cachedInput',
      'cacheWrite5m',
      'cacheWrite1h',
      'output',
      'images',
      'videoSeconds',
      'webSearches',
    ] as const;
    fc.assert(
      fc.property(usage, rates, fc.constantFrom(...whole), fc.nat(1000), (used, base, name, more) => {
        const before = priced(used, flat(base)).costNano;
        const after = priced({ ...used, [name]: used[name] + more }, flat(base)).costNano;
        expect(after >= before).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('never falls when a rate rises', () => {
    fc.assert(
      fc.property(usage, rates, fc.bigInt({ min: 0n, max: 10n ** 12n }), (used, base, more) => {
        for (const name of Object.keys(base) as (keyof typeof base)[]) {
          const dearer = { ...base, [name]: (base[name] ?? 0n) + more };
          expect(priced(used, flat(dearer)).costNano >= priced(used, flat(base)).costNano).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});
