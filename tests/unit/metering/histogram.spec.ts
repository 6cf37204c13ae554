import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bounds, bucketOf, Histogram, wholeMs } from '#lib/core/metering/histogram';

const largest = 2_147_483_647;
/** Durations of every size: a plain range would hardly ever try a short one. */
const duration = fc
  .double({ min: 0, max: Math.log(largest), noNaN: true })
  .map((log) => Math.floor(Math.exp(log)));
const durations = fc.array(duration, { maxLength: 200 });

function of(list: readonly number[]): Histogram {
  const made = new Histogram();
  for (const ms of list) made.add(ms);
  return made;
}

/** Nearest rank. */
function exact(list: readonly number[], share: number): number {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? Number.NaN;
}

/** The stored text as the database prints it: without an exponent. */
function printed(histogram: Histogram): string {
  const [figures = '', exponent = '0'] = histogram.toNumber().split('e');
  return BigInt(figures + '0'.repeat(Number(exponent))).toString();
}

describe('a histogram of durations', () => {
  it('quantiles of a histogram are at most 5% off, whatever the durations are', () => {
    fc.assert(
      fc.property(
        fc.array(duration, { minLength: 1, maxLength: 300 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (list, share) => {
          for (const one of [0.5, 0.95, share]) {
            const [told, wanted] = [of(list).quantile(one), exact(list, one)];
            expect(Math.abs((told ?? Number.NaN) - wanted)).toBeLessThanOrEqual(wanted * 0.05);
          }
        },
      ),
    );
  });

  it.each([
    ['all the same', (at: number) => 1234 + at * 0],
    ['an exponential distribution', (at: number) => Math.round(-800 * Math.log(1 - (at + 0.5) / 5000))],
    ['two groups far apart', (at: number) => (at % 2 === 0 ? 12 : 45_000 + at)],
  ])('tells p50 and p95 of %s', (_, at) => {
    const list = Array.from({ length: 5000 }, (_, index) => at(index));
    for (const share of [0.5, 0.95]) {
      const [told, wanted] = [of(list).quantile(share) ?? Number.NaN, exact(list, share)];
      expect(Math.abs(told - wanted) / wanted).toBeLessThanOrEqual(0.05);
    }
  });

  it('merged histograms are that of all their durations, in any order', () => {
    fc.assert(
      fc.property(durations, durations, durations, (a, b, c) => {
        const merged = of(a);
        const others = of(c);
        others.merge(of(b));
        merged.merge(others);
        expect(merged.toNumber()).toBe(of([...a, ...b, ...c]).toNumber());
        expect(merged.total).toBe(a.length + b.length + c.length);
      }),
    );
  });

  it('a histogram is stored as a number, and the sum of two is that of both', () => {
    fc.assert(
      fc.property(durations, durations, (a, b) => {
        const sum = BigInt(printed(of(a))) + BigInt(printed(of(b)));
        expect(sum.toString()).toBe(printed(of([...a, ...b])));
        expect(Histogram.ofNumber(sum.toString()).toNumber()).toBe(of([...a, ...b]).toNumber());
      }),
    );
  });

  it('a histogram keeps a million million counts of one duration separate from those of the next', () => {
    const most = '999999999999';
    const read = Histogram.ofNumber(`1${most}`);
    expect(read.total).toBe(1_000_000_000_000);
    expect(read.toNumber()).toBe(`000000000001${most}`);
  });

  it.each([
    [0, 0],
    [0.4, 0],
    [1, 1],
    [9, 9],
    [10, 10],
    [11, 10],
    [12, 11],
    [largest, bounds.length],
    [largest * 2, bounds.length],
    [-5, 0],
    [Number.NaN, 0],
  ])('counts %d ms in bucket %i', (ms, bucket) => {
    expect(bucketOf(ms)).toBe(bucket);
  });

  it('buckets are whole milliseconds in order, and the last one covers all that a column can contain', () => {
    for (const [at, low] of bounds.entries()) {
      expect(bucketOf(low)).toBe(at + 1);
      expect(bucketOf(low - 1)).toBe(at);
    }
    expect(wholeMs(largest + 1)).toBe(largest);
  });

  it('an empty histogram has no quantiles, and is the number 0', () => {
    const empty = new Histogram();
    expect([empty.quantile(0.5), empty.toNumber(), empty.total]).toEqual([null, '0', 0]);
    expect(Histogram.ofNumber('0').total).toBe(0);
  });

  it.each(['', '1e12', '-1', '1.5', 'NaN'])('%j is not a stored histogram', (text) => {
    expect(() => Histogram.ofNumber(text)).toThrow('a histogram is a whole number');
  });
});
