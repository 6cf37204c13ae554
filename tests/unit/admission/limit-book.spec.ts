import { describe, expect, it } from 'vitest';
import type { StoredLimits } from '#lib/core/facts/snapshot';
import { LimitBook } from '#lib/gateway/limits/pure/limit-book';

const none: StoredLimits = { rpm: null, tpm: null, concurrency: null };
const weightOf = (tokens: number) => ({ requests: 1, tokens, slot: true }) as const;

/** One key or workspace whose limits change while it is called; `nowMs` moves by hand. */
class Subject {
  readonly #book = new LimitBook();
  nowMs = 1_000_000;

  /** Whether a call of `tokens` is admitted under these limits; booked when it is. */
  admits(limits: StoredLimits, tokens = 1): boolean {
    const counters = this.#book.of('id', limits);
    if (!counters.fits(weightOf(tokens), this.nowMs)) return false;
    counters.book(weightOf(tokens), this.nowMs);
    return true;
  }

  waits(limits: StoredLimits) {
    return this.#book.of('id', limits).waits(weightOf(1), this.nowMs);
  }

  sweep(): void {
    this.#book.sweep(this.nowMs);
  }
}

describe('a limit that changes (contract: limits/changed)', () => {
  const ways: readonly (readonly [string, readonly StoredLimits[]])[] = [
    ['set for the first time', [none]],
    ['lowered', [{ ...none, rpm: 100, tpm: 100 }]],
    ['raised', [{ ...none, rpm: 4, tpm: 4 }]],
    ['removed and set again', [{ ...none, rpm: 10, tpm: 10 }, none]],
    ['lowered from one that keeps no exact moments', [{ ...none, rpm: 50_000, tpm: 50_000 }]],
  ];

  it.each(ways)('counts the calls of the last 60 s when it was %s', (_, before) => {
    for (const limits of [
      { ...none, rpm: 5 },
      { ...none, tpm: 5 },
    ]) {
      const subject = new Subject();
      for (let call = 0; call < 4; call++) {
        expect(subject.admits(before[Math.min(call, before.length - 1)] ?? none)).toBe(true);
        subject.nowMs += 1_000;
      }
      expect(subject.admits(limits)).toBe(true);
      expect(subject.admits(limits)).toBe(false);
      subject.sweep();
      subject.nowMs += 55_999;
      expect(subject.admits(limits)).toBe(false);
      subject.nowMs += 1;
      expect(subject.admits(limits)).toBe(true);
    }
  });

  it('counts the calls that run already when concurrency is set for the first time', () => {
    const subject = new Subject();
    for (let call = 0; call < 3; call++) expect(subject.admits(none)).toBe(true);
    expect(subject.admits({ ...none, concurrency: 3 })).toBe(false);
    expect(subject.admits({ ...none, concurrency: 4 })).toBe(true);
  });

  it('names a wait of at most 60 s for calls admitted while there was no limit', () => {
    const subject = new Subject();
    for (let call = 0; call < 500; call++) {
      subject.admits(none);
      subject.nowMs += 7;
    }
    expect(subject.waits({ ...none, rpm: 500 }).rpmMs).toBeGreaterThan(0);
    expect(subject.waits({ ...none, rpm: 1 }).rpmMs).toBeLessThanOrEqual(60_000);
  });
});
