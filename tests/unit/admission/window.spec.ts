import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SlidingWindow, WINDOW_MS } from '#lib/gateway/limits/pure/window';

interface Arrival {
  readonly afterMs: number;
  readonly weight: number;
}

const arrivals = (heaviest: number): fc.Arbitrary<Arrival[]> =>
  fc.array(
    fc.record({
      afterMs: fc.oneof(
        fc.constant(0),
        fc.integer({ min: 0, max: 300 }),
        fc.integer({ min: 0, max: 70_000 }),
      ),
      weight: fc.integer({ min: 1, max: heaviest }),
    }),
    { maxLength: 120 },
  );

/** Weight inside (untilMs − 60 s, untilMs] of an exact log. */
function inside(log: readonly { atMs: number; weight: number }[], untilMs: number): number {
  return log
    .filter(({ atMs }) => atMs > untilMs - WINDOW_MS && atMs <= untilMs)
    .reduce((sum, { weight }) => sum + weight, 0);
}

function admitAll(limit: number, list: readonly Arrival[]) {
  const window = new SlidingWindow(limit);
  const log: { atMs: number; weight: number }[] = [];
  let nowMs = 1_000;
  for (const { afterMs, weight } of list) {
    nowMs += afterMs;
    if (!window.fits(weight, nowMs)) continue;
    window.book(weight, nowMs);
    log.push({ atMs: nowMs, weight });
  }
  return { window, log, nowMs };
}

describe('a sliding window (contract: limits/rpm, limits/tpm-oversized)', () => {
  it('lets at most the limit through in any 60 seconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), arrivals(1), (limit, list) => {
        const { log } = admitAll(limit, list);
        for (const { atMs } of log) expect(inside(log, atMs)).toBeLessThanOrEqual(limit);
      }),
    );
  });

  it('decides as an exact log does while the limit is at most 10,000', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), arrivals(50), (limit, list) => {
        const window = new SlidingWindow(limit);
        const log: { atMs: number; weight: number }[] = [];
        let nowMs = 0;
        for (const { afterMs, weight } of list) {
          nowMs += afterMs;
          const used = inside(log, nowMs);
          const expected = weight > limit ? used === 0 : used + weight <= limit;
          expect(window.fits(weight, nowMs)).toBe(expected);
          if (!expected) continue;
          window.book(weight, nowMs);
          log.push({ atMs: nowMs, weight });
        }
      }),
    );
  });

  it('never passes a large limit either, and loses at most 100 ms of it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10_001, max: 20_000 }), arrivals(9_000), (limit, list) => {
        const { window, log, nowMs } = admitAll(limit, list);
        for (const { atMs } of log) expect(inside(log, atMs)).toBeLessThanOrEqual(limit);
        const generous = log.filter(({ atMs }) => atMs > nowMs - WINDOW_MS - 100);
        expect(window.totalAt(nowMs)).toBeLessThanOrEqual(generous.reduce((sum, one) => sum + one.weight, 0));
      }),
    );
  });

  it('names a wait after which a lone retry passes, and a second before which it would not', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(5, 60, 9_000, 15_000),
        arrivals(4_000),
        fc.integer({ min: 1, max: 5_000 }),
        (limit, list, weight) => {
          const { window, nowMs } = admitAll(limit, list);
          const waitMs = window.waitMs(weight, nowMs);
          fc.pre(waitMs > 0);
          const seconds = Math.ceil(waitMs / 1000);
          expect(seconds).toBeLessThanOrEqual(60);
          if (seconds > 1) expect(window.fits(weight, nowMs + (seconds - 1) * 1000)).toBe(false);
          expect(window.fits(weight, nowMs + seconds * 1000)).toBe(true);
        },
      ),
    );
  });

  it('admits a request above the whole limit only into an empty window', () => {
    const window = new SlidingWindow(100);
    expect(window.fits(500, 0)).toBe(true);
    window.book(500, 0);
    expect(window.fits(1, 59_999)).toBe(false);
    expect(window.fits(500, 60_000)).toBe(true);
    window.book(1, 60_000);
    expect(window.fits(500, 60_000)).toBe(false);
    expect(window.waitMs(500, 60_000)).toBe(60_000);
  });

  it('takes a lower actual back to its admission, and only while that is inside', () => {
    const window = new SlidingWindow(100);
    const slot = window.book(80, 0);
    window.book(20, 10_000);
    window.giveBack(slot, 50, 20_000);
    expect(window.totalAt(20_000)).toBe(50);
    expect(window.waitMs(60, 20_000)).toBe(40_000);
    window.giveBack(slot, 30, 60_000);
    expect(window.totalAt(60_000)).toBe(20);
  });

  it('lets what was used beyond the estimate delay later requests', () => {
    const window = new SlidingWindow(100);
    window.book(50, 0);
    window.book(70, 30_000);
    expect(window.fits(1, 30_000)).toBe(false);
    expect(window.waitMs(31, 30_000)).toBe(60_000);
    expect(window.waitMs(30, 30_000)).toBe(30_000);
  });

  it('keeps what was admitted when the limit changes, across the two ways of keeping it', () => {
    const window = new SlidingWindow(20_000);
    for (let n = 0; n < 600; n++) window.book(1, n);
    window.setLimit(600);
    expect(window.fits(1, 600)).toBe(false);
    window.setLimit(601);
    expect(window.fits(1, 600)).toBe(true);
    window.book(1, 600);
    window.setLimit(50_000);
    window.book(5, 650);
    expect(window.totalAt(650)).toBe(606);
    expect(window.totalAt(60_650)).toBe(0);
  });

  it('books nothing for weight 0, and a slot from 1 on', () => {
    const window = new SlidingWindow(10);
    expect([window.book(0, 0), window.book(-1, 0)]).toEqual([-1, -1]);
    expect(window.totalAt(0)).toBe(0);
    expect([window.book(1, 0), window.book(1, 0)]).toEqual([0, 1]);
    expect(window.totalAt(0)).toBe(2);
  });

  it.each([
    [10_000, [0, 1, 2, 3]],
    [10_001, [0, 0, 1, 1]],
  ])('with a limit of %i keeps moments in slots %j', (limit, slots) => {
    const window = new SlidingWindow(limit);
    expect([1, 99, 100, 199].map((atMs) => window.book(1, atMs))).toEqual(slots);
    // A bucket counts until its latest moment has left.
    const bucketed = limit > 10_000;
    expect(window.totalAt(60_001)).toBe(bucketed ? 4 : 3);
    expect(window.totalAt(60_099)).toBe(2);
    expect(window.totalAt(60_198)).toBe(bucketed ? 2 : 1);
    expect(window.totalAt(60_199)).toBe(0);
  });

  it('gives nothing back for a slot that has expired or never existed, and never more than was booked', () => {
    const window = new SlidingWindow(100);
    const first = window.book(10, 0);
    const second = window.book(10, 30_000);
    window.giveBack(second + 1, 5, 30_000);
    window.giveBack(first, 0, 30_000);
    window.giveBack(first, -5, 30_000);
    expect(window.totalAt(30_000)).toBe(20);
    window.giveBack(first, 5, 60_000);
    expect(window.totalAt(60_000)).toBe(10);
    window.giveBack(second, 25, 60_000);
    expect(window.totalAt(60_000)).toBe(0);
    window.giveBack(second, 5, 60_000);
    expect(window.totalAt(60_000)).toBe(0);
  });
});
