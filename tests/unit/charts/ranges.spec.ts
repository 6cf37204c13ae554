import { describe, expect, it } from 'vitest';
import { type RangeName, rangeNamed, rangeNames, stepsFor, usualStep } from '#lib/core/charts/ranges';

const dayMs = 86_400_000;
const iso = (ms: number) => new Date(ms).toISOString().slice(0, 16);
const range = (name: RangeName, now: string, zone: string) => {
  const { fromMs, toMs, before } = rangeNamed(name, Date.parse(now), zone);
  return [fromMs, toMs, before.fromMs, before.toMs].map(iso);
};

describe('a range that moves with the clock', () => {
  it.each([
    [
      'today',
      '2026-11-22T10:20:00Z',
      'UTC',
      '2026-11-22T00:00 2026-11-22T10:30 2026-11-21T00:00 2026-11-21T10:30',
    ],
    [
      'today',
      '2026-11-22T10:20:00Z',
      'Asia/Kathmandu',
      '2026-11-21T18:15 2026-11-22T10:30 2026-11-20T18:15 2026-11-21T10:30',
    ],
    [
      '24h',
      '2026-11-22T10:20:00Z',
      'Asia/Kathmandu',
      '2026-11-21T10:30 2026-11-22T10:30 2026-11-20T10:30 2026-11-21T10:30',
    ],
    [
      '7d',
      '2026-11-22T10:20:00Z',
      'UTC',
      '2026-11-16T00:00 2026-11-22T10:30 2026-11-09T00:00 2026-11-15T10:30',
    ],
    [
      'month',
      '2026-11-22T10:20:00Z',
      'UTC',
      '2026-11-01T00:00 2026-11-22T10:30 2026-10-01T00:00 2026-10-22T10:30',
    ],
    [
      'last-month',
      '2026-11-22T10:20:00Z',
      'Asia/Kathmandu',
      '2026-09-30T18:15 2026-10-31T18:15 2026-08-31T18:15 2026-09-30T18:15',
    ],
    [
      '12m',
      '2026-11-22T10:20:00Z',
      'UTC',
      '2025-12-01T00:00 2026-11-22T10:30 2024-12-01T00:00 2025-11-22T10:30',
    ],
  ] as const)('%s at %s in %s', (name, now, zone, expected) => {
    expect(range(name, now, zone).join(' ')).toBe(expected);
  });

  it('a day of 25 hours is compared with a day of 24 by the time since midnight', () => {
    expect(range('today', '2026-11-02T15:20:00Z', 'America/New_York')).toEqual([
      '2026-11-02T05:00',
      '2026-11-02T15:30',
      '2026-11-01T04:00',
      '2026-11-01T14:30',
    ]);
  });

  it('the end of a long month is compared with all of a shorter one', () => {
    expect(range('month', '2026-03-31T12:00:00Z', 'UTC').slice(2)).toEqual([
      '2026-02-01T00:00',
      '2026-03-01T00:00',
    ]);
  });

  it('a range never overlaps the range that it is compared with, and contains the moment', () => {
    for (const zone of ['UTC', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia']) {
      for (let nowMs = Date.UTC(2026, 0, 1, 3, 7); nowMs < Date.UTC(2027, 0, 1); nowMs += 5.37 * dayMs) {
        for (const name of rangeNames) {
          const { fromMs, toMs, before } = rangeNamed(name, nowMs, zone);
          expect(before.fromMs).toBeLessThan(before.toMs);
          expect(before.toMs).toBeLessThanOrEqual(fromMs);
          if (name !== 'last-month') expect(fromMs <= nowMs && nowMs < toMs).toBe(true);
          for (const edge of [fromMs, toMs, before.fromMs, before.toMs]) expect(edge % 900_000).toBe(0);
        }
      }
    }
  });
});

describe('the steps of a range', () => {
  it('every range has a step in which its chart can be read', () => {
    for (let lengthMs = 900_000; lengthMs < 3_000 * dayMs; lengthMs *= 1.5) {
      expect(stepsFor(lengthMs)).not.toEqual([]);
      expect(stepsFor(lengthMs)).toContain(usualStep(lengthMs));
    }
    expect(stepsFor(dayMs)).toEqual(['quarter', 'hour']);
    expect(stepsFor(30 * dayMs)).toEqual(['day', 'week']);
  });
});
