import { describe, expect, it } from 'vitest';
import { triedPriceOf } from '#lib/console/gateway/price-effect';
import { filePriceOf } from '#lib/control/catalogue/file-price';
import { readCatalogue } from '#lib/control/catalogue/files';
import { listPrice } from '#lib/control/catalogue/price-table';
import { type FilePrice, filePriceShape, readFilePrice } from '#lib/core/schemas/price';

const effect = {
  from: '2026-11-15T00:00:00.000Z',
  complete: true,
  calls: 12_000,
  unpriced: 0,
  unpricedCharged: '0',
  charged: '0.072',
  preview: '0.090000001',
  difference: '0.018000001',
};

describe('the preview of a price', () => {
  it('rounds nothing, and lines its amounts up', () => {
    expect(triedPriceOf(effect)).toEqual({
      calls: '12,000',
      charged: '$0.072000000',
      preview: '$0.090000001',
      difference: '+$0.018000001',
      direction: 'more',
      note: null,
    });
    expect(triedPriceOf({ ...effect, difference: '-1.5' })).toMatchObject({
      difference: '−$1.500000000',
      direction: 'less',
    });
    expect(triedPriceOf({ ...effect, difference: '0' }).direction).toBe('same');
  });

  it('says what it leaves out', () => {
    const { note } = triedPriceOf({ ...effect, complete: false, unpriced: 2, unpricedCharged: '0.25' });
    expect(note).toBe(
      'Only the newest calls were included, since 15 Nov 2026. 2 more, charged $0.25, cannot be repriced from the log.',
    );
  });
});

describe('a price as its file writes it', () => {
  it.each<FilePrice>([
    { input: '2', cachedInput: '0.5', output: '8' },
    { input: '1.25', output: '10', tiers: [{ aboveInputTokens: 200_000, input: '2.5', output: '15' }] },
    {
      input: '2',
      request: '0.01',
      image: { '1024x1024/high': '0.17', default: '0.04' },
      videoSecond: '0.1',
      serviceTiers: {
        flex: { input: '1', tiers: [{ aboveInputTokens: 1_000, input: '1.5' }] },
        priority: { input: '4' },
      },
    },
  ])('says what is stored: %j', (price) => {
    const stored = readFilePrice(price);
    expect(filePriceOf(listPrice(stored))).toEqual(price);
  });

  it('says each price of the shipped catalogue so that it can be read again', async () => {
    const { models } = await readCatalogue('catalogue', ['sandbox.yaml']);
    const prices = models.flatMap(({ offers }) => offers.flatMap(({ price }) => price ?? []));
    expect(prices.length).toBeGreaterThan(100);
    for (const price of prices) {
      const stored = readFilePrice(price);
      const written = filePriceShape.parse(filePriceOf(listPrice(stored)));
      expect(readFilePrice(written)).toEqual(stored);
    }
  });
});
