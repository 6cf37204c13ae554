import { describe, expect, it } from 'vitest';
import type { Ask } from '#lib/core/families/family';
import { estimateUsage, lacksTokens, paidOnce } from '#lib/core/metering/image-usage';
import { price } from '#lib/core/metering/price';
import type { Price, Rates } from '#lib/core/metering/price-list';
import { type UsageReport, usageOf } from '#lib/core/metering/usage';
import { estimate } from '#lib/gateway/admission/pure/estimate';
import type { Target } from '#lib/gateway/routing/pure/target';
import { askImages } from '#tests/unit/families/images/make';
import { calledBy, makeModel, makeOffer } from '#tests/unit/families/make';

const dollar = 1_000_000_000n;
const priceOf = (base: Rates): Price => ({ base, tiers: [], serviceTiers: {} });
const byToken = priceOf({ input: 5n * dollar, imageInput: 10n * dollar, output: 40n * dollar });
const byPiece = priceOf({ image: (dollar / 25n) * 1_000_000n });
const both = priceOf({ ...byToken.base, ...byPiece.base });
const reportOf = (usage: Parameters<typeof usageOf>[0]): UsageReport => ({
  usage: usageOf(usage),
  serviceTier: null,
  nested: [],
  flags: [],
});
const told = reportOf({ input: 100, output: 1_000, imageOutput: 1_000, images: 2 });
const counted = reportOf({ images: 2 });

function charge(report: UsageReport, own: Price) {
  return price(paidOnce(report, own, new Map()), own, new Map());
}

const terms = { keyMaximum: null, strict: false, previousTokens: 0 };

describe('pictures (contract: families/image-tokens)', () => {
  it('images are charged by token if tokens were reported and have a price, and then not by the piece', () => {
    const tokensNano = 100n * 5_000n + 1_000n * 40_000n;
    expect(charge(told, byToken)).toMatchObject({ costNano: tokensNano, flags: [] });
    expect(charge(told, both).costNano).toBe(tokensNano);
  });

  it('images are charged by the piece if only pieces have a price, or only pieces were reported', () => {
    expect(charge(told, byPiece).costNano).toBe(80_000_000n);
    expect(charge(counted, byPiece)).toMatchObject({ costNano: 80_000_000n, flags: [] });
    expect(charge(counted, both).costNano).toBe(80_000_000n);
  });

  it('images of a nested model are charged at its own price', () => {
    const report = { ...reportOf({ input: 1 }), nested: [{ upstreamModel: 'draws', usage: told.usage }] };
    const once = paidOnce(report, byPiece, new Map([['draws', byToken]]));
    expect(once.nested[0]?.usage.images).toBe(0);
    expect(paidOnce(report, byToken, new Map([['draws', byPiece]])).nested[0]?.usage.images).toBe(2);
  });

  it('a report without images does not change', () => {
    const plain = reportOf({ input: 5, output: 5 });
    expect(paidOnce(plain, byToken, new Map())).toBe(plain);
  });
});

describe('an answer that tells no tokens where the price is by token', () => {
  const ask = askImages({ model: 'm', prompt: 'x'.repeat(371) });

  it('an answer without tokens, if the price is by token, is unknown, not free', () => {
    expect(lacksTokens(counted, byToken)).toBe(true);
    expect([lacksTokens(counted, byPiece), lacksTokens(counted, both), lacksTokens(told, byToken)]).toEqual([
      false,
      false,
      false,
    ]);
    expect(lacksTokens(reportOf({}), byToken)).toBe(false);
  });

  it('an answer without tokens is estimated: the input by its weight, the output by its pictures, all of it image', () => {
    expect(estimateUsage(ask, counted, 4 * 272).usage).toEqual(
      usageOf({ input: ask.weight.textBytes / 4, output: 272, imageOutput: 272, images: 2 }),
    );
    expect(estimateUsage(ask, null, 0).usage).toEqual(usageOf({ input: ask.weight.textBytes / 4 }));
  });
});

describe('the hold of a call for images (contract: money/media-hold)', () => {
  const target = (base: Rates): Target => ({
    model: makeModel({ output: ['image'] }),
    offer: makeOffer(),
    family: 'images',
    address: new URL('http://provider.test'),
    ...calledBy(''),
    price: { id: 'p', effectiveAtMs: 0, price: priceOf(base) },
    injectBudget: null,
  });
  const output = (asked: object) => estimate(askOf(asked), [target({})], terms).outputTokens;
  const askOf = (asked: object): Ask => askImages({ model: 'm', ...asked });

  it('the hold counts output by area and quality, for each image', () => {
    expect(output({ size: '1024x1024', quality: 'low' })).toBe(272 + 512);
    expect(output({ size: '1536x1024', quality: 'medium', n: 3 })).toBe(3 * (1_584 + 512));
    expect(output({ size: '2048x2048', quality: 'high' })).toBe(4 * 4_160 + 512);
    expect(output({ quality: 'max', size: '1024x1024' })).toBeGreaterThan(
      output({ quality: 'high', size: '1024x1024' }),
    );
  });

  it('the hold assumes the largest for what is left open, and counts partial images, frames and vector graphics', () => {
    expect(output({})).toBe(6_240 + 512);
    expect(output({ size: 'auto', quality: 'auto' })).toBe(6_240 + 512);
    expect(output({ partial_images: 3 }) - output({})).toBe(300);
    expect(output({ output_format: 'gif', frame_count: 4 })).toBe(4 * 6_240 + 512);
    expect(output({ svg: { model: 'w' } }) - output({})).toBe(8_192);
  });

  it('the hold never overflows, however large the requested size', () => {
    expect(Number.isSafeInteger(output({ size: '99999x99999', n: 10 }))).toBe(true);
  });

  it('the hold of a strict workspace counts a token for each byte, whatever the catalogue leaves out', () => {
    const ask = askImages({ model: 'm', prompt: 'x'.repeat(1_000) });
    const silent = { ...target({}), model: makeModel({ contextTokens: 0, output: ['image'] }) };
    expect(estimate(ask, [silent], { ...terms, strict: true }).inputTokens).toBe(ask.weight.textBytes);
  });

  it('the hold covers the cost of input images', () => {
    const base = { input: 5n * dollar, imageInput: 10n * dollar };
    const edit = askImages({ model: 'm', images: [{ file_id: 'a' }, { file_id: 'b' }] }, 'images.edit');
    const { holdNano, inputTokens } = estimate(edit, [target(base)], terms);
    expect(inputTokens - Math.ceil(edit.weight.textBytes / 3)).toBe(5_000);
    expect(holdNano).toBe(5_000n * 10_000n + BigInt(Math.ceil(edit.weight.textBytes / 3)) * 5_000n);
  });
});
