import { describe, expect, it } from 'vitest';
import { type CountedDay, figuresOf, type Impact } from '#lib/control/operations/status/figures';
import { Histogram } from '#lib/core/metering/histogram';

const histogram = (...ms: number[]) => {
  const made = new Histogram();
  for (const one of ms) made.add(one);
  // As the database prints it: digits alone.
  return made.toNumber().replace(/e(\d+)$/, (_, zeros) => '0'.repeat(Number(zeros)));
};
const day = (calls: number, failed = 0, more: Partial<CountedDay> = {}): CountedDay => ({
  calls,
  failed,
  firstByte: '0',
  own: null,
  ...more,
});
const quiet = { calls: 0, failed: 0 };

describe('the figures of the status page (contract: operations/status-page)', () => {
  it('are the share of calls without a failure, in all days and day by day', () => {
    const { availability, days } = figuresOf([day(150, 3), null, day(50, 1)], quiet, []);
    expect(availability).toBe(196 / 200);
    expect(days).toEqual([0.98, null, 0.98]);
  });

  it('say nothing of fewer than 100 calls in all, however they are spread', () => {
    const few = figuresOf([day(99, 99, { firstByte: histogram(...Array(99).fill(5)) })], day(99, 99), []);
    expect(few).toEqual({ state: 'no data', availability: null, latencyMs: null, days: [null] });
  });

  it('say nothing of a day with fewer than 20 calls', () => {
    expect(figuresOf([day(19), day(20), day(100)], quiet, []).days).toEqual([null, 1, 1]);
  });

  it.each<[string, CountedDay, CountedDay, string]>([
    ['by the last hour', day(20, 2), day(1000), 'degraded'],
    ['as down when half of its calls fail', day(20, 11), day(1000), 'down'],
    ['by the last two days when the hour was quiet', day(19, 19), day(1000, 100), 'degraded'],
    ['as operational when 95 in a hundred succeed', day(100, 5), day(1000, 900), 'operational'],
  ])('tell the state %s', (_, hour, today, state) => {
    expect(figuresOf([today], hour, []).state).toBe(state);
  });

  it.each<[readonly Impact[], number, string]>([
    [['outage'], 0, 'down'],
    [['maintenance', 'degraded'], 0, 'maintenance'],
    [['degraded'], 0, 'degraded'],
    [['maintenance'], 60, 'down'],
  ])('tell what operators say, %j, unless %i of 100 failed calls say worse', (open, failed, state) => {
    expect(figuresOf([day(1000)], day(100, failed), open).state).toBe(state);
  });

  it('tell of trouble that operators know before any call does', () => {
    expect(figuresOf([], quiet, ['outage']).state).toBe('down');
    expect(figuresOf([], quiet, ['degraded']).state).toBe('degraded');
  });

  it('merge the time to the first byte of the last seven days alone', () => {
    const slow = day(100, 0, { firstByte: histogram(...Array(100).fill(9000)) });
    const fast = day(100, 0, { firstByte: histogram(...Array(100).fill(100)) });
    const { latencyMs } = figuresOf([slow, ...Array(7).fill(fast)], quiet, []);
    expect(latencyMs?.p95).toBeGreaterThan(95);
    expect(latencyMs?.p95).toBeLessThan(105);
  });

  it('tell of the gateway what it added on the latest day that knows it', () => {
    const own = { p50: 1, p95: 2 };
    expect(figuresOf([day(100, 0, { own }), day(100)], quiet, []).latencyMs).toEqual(own);
  });

  it('never fall below 0', () => {
    expect(figuresOf([day(100, 120)], quiet, []).availability).toBe(0);
  });
});
