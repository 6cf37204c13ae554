import { describe, expect, it } from 'vitest';
import { audioRate, hourlyNano } from '#lib/core/metering/audio-rate';
import { lacksTokens, paidOnce } from '#lib/core/metering/image-usage';
import { price } from '#lib/core/metering/price';
import { priceReport } from '#lib/core/metering/price-report';
import { type Usage, usageOf } from '#lib/core/metering/usage';
import { parseUsd } from '#lib/core/money';
import { parsePrice, readFilePrice, storePrice } from '#lib/core/schemas/price';

const none = new Map();
const reportOf = (used: Partial<Usage>, flags: readonly string[] = []) => ({
  usage: usageOf(used),
  serviceTier: null,
  nested: [],
  flags,
});
const priceOf = (file: Parameters<typeof readFilePrice>[0]) => readFilePrice(file);
const costOf = (used: Partial<Usage>, file: Parameters<typeof readFilePrice>[0]) => {
  const own = priceOf(file);
  return price(paidOnce(reportOf(used), own, none), own, none);
};

describe('the price of an hour of audio (contract: money/audio-rate)', () => {
  it.each([
    // Dollars an hour, ms, nano-dollars.
    ['0.36', 60_000, 6_000_000n],
    ['0.36', 12_500, 1_250_000n],
    ['0.04', 3_600_000, 40_000_000n],
    ['0.04', 1_000, 11_112n],
    ['0.111', 60_000, 1_850_000n],
    ['0.111', 1, 31n],
    ['0.27', 36_000_000, 2_700_000_000n],
  ])('%s for %i ms is exact', (usd, audioMs, nano) => {
    expect(costOf({ audioMs }, { audioHour: usd }).costNano).toBe(nano);
  });

  it.each(['0.36', '0.04', '0.111', '0.000001', '999999999.999999', '1.234567'])(
    'of %s is shown as it was written',
    (usd) => {
      expect(hourlyNano(audioRate(parseUsd(usd)))).toBe(parseUsd(usd));
      const stored = parsePrice(JSON.parse(JSON.stringify(storePrice(priceOf({ audioHour: usd })))));
      expect(stored).toEqual(priceOf({ audioHour: usd }));
    },
  );
});

describe('what audio is charged by (contract: money/audio-charge)', () => {
  const all = { input: 10, output: 20, audioOutput: 20, characters: 1_234, audioMs: 5_000 };

  it.each([
    ['characters', { characters: '15' }, 'characters', 1_234 * 15_000],
    ['its length', { audioHour: '0.36' }, 'audioMs', 500_000],
  ])('is %s, if the price has only that', (_name, file, line, nano) => {
    const { costNano, lines, flags } = costOf({ characters: 1_234, audioMs: 5_000 }, file);
    expect(lines.map((one) => one.class)).toEqual([line]);
    expect(costNano).toBe(BigInt(nano));
    expect(flags).toEqual([]);
  });

  it('is tokens, if the price is by token: the rest is only counted', () => {
    const { costNano, flags } = costOf(all, { input: '0.6', output: '12' });
    expect(costNano).toBe(10n * 600n + 20n * 12_000n);
    expect(flags).toEqual([]);
  });

  it('is nothing, with a flag, if the price has nothing for it', () => {
    expect(costOf({ audioMs: 5_000 }, { image: '1' })).toMatchObject({
      costNano: 0n,
      flags: ['unpriced_audioMs'],
    });
  });

  it('lacks tokens if only characters and length were counted, though the price is by token', () => {
    const counted = reportOf({ characters: 5, audioMs: 400 }, ['usage_counted']);
    expect(lacksTokens(counted, priceOf({ input: '0.6', output: '12' }))).toBe(true);
    expect(lacksTokens(counted, priceOf({ characters: '15' }))).toBe(false);
    expect(lacksTokens(counted, priceOf({ audioHour: '1' }))).toBe(false);
    expect(lacksTokens(reportOf({ ...all }), priceOf({ input: '0.6', output: '12' }))).toBe(false);
  });

  it('is at most the longest that the file can be (contract: money/usage-bounds)', () => {
    const priced = priceReport(reportOf({ audioMs: 1e12 }), {
      model: { contextTokens: 0, maxOutputTokens: 0, output: ['text'] },
      mostAudioMs: 60_000,
      price: priceOf({ audioHour: '0.36' }),
      named: () => [],
      choices: 1,
      serverTools: false,
      serviceTier: null,
      strict: false,
      holdNano: 0n,
    });
    expect(priced).toMatchObject({ costNano: 6_000_000n, flags: ['usage_anomaly'] });
    expect(priced.usage.audioMs).toBe(1e12);
  });
});
