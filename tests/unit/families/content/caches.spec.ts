import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import type { Ask } from '#lib/core/families/family';
import { generateContent } from '#lib/core/families/generate-content';
import { standOfCache } from '#lib/core/families/generate-content/caches';
import { scan } from '#lib/core/families/scan';
import { price } from '#lib/core/metering/price';
import { priceReport } from '#lib/core/metering/price-report';
import { readFilePrice } from '#lib/core/schemas/price';

const nowMs = Date.UTC(2027, 0, 31, 12);
const ratesOf = readFilePrice({ input: '2', cacheStorage: '4.5', output: '8' });

function askOf(name: 'create' | 'update', body: object, params: Record<string, string> = {}) {
  const operation = generateContent.operations.find((one) => one.name === `content.caches.${name}`);
  const scanned = scan(Buffer.from(JSON.stringify(body)), operation?.fields ?? {});
  if (!operation || 'fault' in scanned) throw new Error('the body cannot be read');
  return generateContent.readAsk({ operation, scan: scanned, params: { nowMs: String(nowMs), ...params } });
}

function asked(...[name, body, params]: Parameters<typeof askOf>): Ask {
  const ask = askOf(name, body, params);
  if (isRefusal(ask)) throw new Error(ask.message);
  return ask;
}

const model = 'models/vendor/name';
const answer = {
  name: 'cachedContents/one',
  model,
  expireTime: '2027-01-31T14:00:00.123456789Z',
  usageMetadata: { totalTokenCount: 1_001 },
};

describe('what a context cache is asked for (contract: batches/caches)', () => {
  it.each([
    [{}, 3_600],
    [{ ttl: '60s' }, 60],
    [{ ttl: '60.5s' }, 61],
    [{ ttl: '604800s' }, 604_800],
    [{ expireTime: '2027-01-31T12:30:00Z' }, 1_800],
    [{ expire_time: '2027-01-31T12:00:00.5Z' }, 1],
    [{ expireTime: '2020-01-31T12:00:00Z' }, 0],
  ])('%j is kept for %i s', (fields, seconds) => {
    const ask = asked('create', { model, ...fields });
    expect(ask).toMatchObject({ model: 'vendor/name', budget: null, cache: { tokens: null, seconds } });
  });

  it.each([
    [{ ttl: '7200s' }, 3_600],
    [{ ttl: '3600s' }, 0],
    [{ ttl: '60s' }, 0],
  ])(
    'a change by %j of a cache that is paid for an hour adds %i s, and holds a minute more',
    (fields, more) => {
      const params = { model: 'vendor/name', untilMs: String(nowMs + 3_600_000), tokens: '1000' };
      const seconds = fields.ttl === '60s' ? 0 : more + 60;
      expect(asked('update', fields, params)).toMatchObject({ cache: { tokens: 1_000, seconds } });
    },
  );

  it('a change of a cache whose end is over is paid from now on', () => {
    const params = { model: 'vendor/name', untilMs: String(nowMs - 3_600_000), tokens: '1000' };
    expect(asked('update', { ttl: '60s' }, params)).toMatchObject({ cache: { seconds: 120 } });
  });

  it.each([
    {},
    { ttl: '' },
    { ttl: '-1s' },
    { ttl: 's' },
    { ttl: '1e3s' },
    { expireTime: '2027-13-01T00:00:00Z' },
  ])('a change by %j is refused', (fields) => {
    expect(askOf('update', fields, { model: 'a', untilMs: '0', tokens: '1' })).toMatchObject({
      code: 'invalid_body',
    });
  });
});

describe('what a context cache costs (contract: batches/cache-charge, money/cache-storage)', () => {
  const terms = {
    model: { contextTokens: 1_000_000, maxOutputTokens: 8_000 },
    price: ratesOf,
    named: () => [],
    choices: 1,
    serverTools: false,
    serviceTier: null,
    strict: false,
    holdNano: 0n,
  };

  it('is its tokens as input, and the hours that it is kept', () => {
    const report = generateContent.readUsage(asked('create', { model, ttl: '5400s' }), answer);
    if (!report) throw new Error('nothing was reported');
    const { lines, costNano, flags } = priceReport(report, terms);
    // 1,001 tokens for an hour and a half are 1,501.5 hours of a token.
    expect(lines).toEqual([
      { class: 'input', quantity: 1_001, unitPriceNano: 2_000_000_000n },
      { class: 'cacheStorage', quantity: 1_502, unitPriceNano: 4_500_000_000n },
    ]);
    expect(costNano).toBe(1_001n * 2_000n + 1_502n * 4_500n);
    expect(flags).toEqual([]);
  });

  it.each([
    // Its clock says when it was paid until, and when it ends now.
    ['2027-01-31T14:00:00Z', 1_000],
    ['2027-01-31T13:30:00Z', 0],
    ['2027-01-31T12:00:00Z', 0],
    // Two thousand tokens for the time that was asked for and the minute of the hold.
    ['an hour later', 1_034],
    // At most a week and a minute, whatever it says.
    ['2999-01-31T12:00:00Z', 336_034],
  ])('of a change is the time by which its end moves at the provider: to %s', (expireTime, quantity) => {
    const params = { model: 'vendor/name', untilMs: String(nowMs + 5_400_000), tokens: '2000' };
    const told = { ...answer, expireTime };
    const report = generateContent.readUsage(asked('update', { ttl: '7200s' }, params), told);
    if (!report) throw new Error('nothing was reported');
    const lines = quantity === 0 ? [] : [{ class: 'cacheStorage', quantity }];
    expect(priceReport(report, terms).lines).toMatchObject(lines);
  });

  it('is bounded by the context of the model, whatever the provider says', () => {
    const lie = { ...answer, usageMetadata: { totalTokenCount: 10 ** 12 } };
    const report = generateContent.readUsage(asked('create', { model }), lie);
    if (!report) throw new Error('nothing was reported');
    const { lines, flags } = priceReport(report, terms);
    expect(lines.map(({ quantity }) => quantity)).toEqual([1_100_000, 1_100_000]);
    expect(flags).toEqual(['usage_anomaly']);
  });

  it('is flagged if its storage has no price', () => {
    const report = generateContent.readUsage(asked('create', { model }), answer);
    if (!report) throw new Error('nothing was reported');
    const { flags, costNano } = price(report, readFilePrice({ input: '2' }), new Map());
    expect([flags, costNano]).toEqual([['unpriced_cacheStorage'], 1_001n * 2_000n]);
  });

  it.each([
    [{ error: { code: 400 } }],
    [{ ...answer, name: 'files/one' }],
    [{ ...answer, usageMetadata: {} }],
    [null],
  ])('is not reported by %j', (body) => {
    expect(generateContent.readUsage(asked('create', { model }), body)).toBeNull();
  });
});

describe('until when a context cache is paid (contract: batches/cache-charge)', () => {
  it('is what its provider says', () => {
    expect(standOfCache(answer)).toEqual({ untilMs: Date.parse(answer.expireTime), tokens: 1_001 });
  });

  it.each([[{}], [{ ...answer, expireTime: 'soon' }], [{ ...answer, error: { code: 500 } }]])(
    'is not known of %j',
    (body) => {
      expect(standOfCache(body)).toBeNull();
    },
  );
});
