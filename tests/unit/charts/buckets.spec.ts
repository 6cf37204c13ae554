import { describe, expect, it } from 'vitest';
import { bucketStarts, type Step } from '#lib/core/charts/buckets';

const at = (iso: string) => Date.parse(iso);
const starts = (from: string, to: string, step: Step, zone: string) =>
  bucketStarts(at(from), at(to), step, zone).map((ms) => new Date(ms).toISOString().slice(0, 16));
/** Minutes that each bucket lasts. */
const lengths = (from: string, to: string, step: 'hour' | 'day', zone: string) =>
  bucketStarts(at(from), at(to), step, zone).map(
    (start, index, all) => ((all[index + 1] ?? at(to)) - start) / 60_000,
  );

describe('the buckets of a series', () => {
  it('buckets can be quarters of an hour', () => {
    expect(starts('2026-11-22T10:15:00Z', '2026-11-22T11:00:00Z', 'quarter', 'Asia/Kolkata')).toEqual([
      '2026-11-22T10:15',
      '2026-11-22T10:30',
      '2026-11-22T10:45',
    ]);
  });

  it('buckets of hours follow the wall clock, the first and the last cut by the range', () => {
    expect(starts('2026-11-22T10:00:00Z', '2026-11-22T12:00:00Z', 'hour', 'Asia/Kathmandu')).toEqual([
      '2026-11-22T10:00',
      '2026-11-22T10:15',
      '2026-11-22T11:15',
    ]);
  });

  it('buckets of weeks begin on Monday and those of months on the first, in the zone; the first is cut by the range', () => {
    expect(starts('2026-11-18T12:00:00Z', '2026-12-02T00:00:00Z', 'week', 'Asia/Kathmandu')).toEqual([
      '2026-11-18T12:00',
      '2026-11-22T18:15',
      '2026-11-29T18:15',
    ]);
    expect(starts('2026-09-30T18:15:00Z', '2026-12-15T00:00:00Z', 'month', 'Asia/Kathmandu')).toEqual([
      '2026-09-30T18:15',
      '2026-10-31T18:15',
      '2026-11-30T18:15',
    ]);
  });

  it('buckets of days follow the zone, the first and the last cut by the range', () => {
    expect(starts('2026-11-20T12:00:00Z', '2026-11-23T00:00:00Z', 'day', 'Asia/Kathmandu')).toEqual([
      '2026-11-20T12:00',
      '2026-11-20T18:15',
      '2026-11-21T18:15',
      '2026-11-22T18:15',
    ]);
    expect(starts('2026-11-20T18:30:00Z', '2026-11-21T18:30:00Z', 'day', 'Asia/Kolkata')).toEqual([
      '2026-11-20T18:30',
    ]);
  });

  it.each([
    ['Australia/Lord_Howe', '2026-10-03T13:30:00Z', '2026-10-04T13:00:00Z', 23.5],
    ['Australia/Lord_Howe', '2026-04-04T13:00:00Z', '2026-04-05T13:30:00Z', 24.5],
    ['America/New_York', '2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z', 23],
    ['America/New_York', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z', 25],
  ])('of %s on a day of changed clocks from %s to %s is one of %d hours', (zone, from, to, hours) => {
    expect(lengths(from, to, 'day', zone)).toEqual([hours * 60]);
    const inHours = lengths(from, to, 'hour', zone);
    expect(inHours.reduce((sum, minutes) => sum + minutes, 0)).toBe(hours * 60);
    expect(inHours.filter((minutes) => minutes !== 60)).toEqual(Number.isInteger(hours) ? [] : [30]);
  });

  it('buckets leave out a day that a zone skipped', () => {
    expect(lengths('2011-12-29T10:00:00Z', '2012-01-01T10:00:00Z', 'day', 'Pacific/Apia')).toEqual([
      1440, 1440, 1440,
    ]);
  });

  it('buckets of years contain all days, in order and without gaps', () => {
    const days = lengths('2024-12-31T18:15:00Z', '2026-12-31T18:15:00Z', 'day', 'Asia/Kathmandu');
    expect(days).toHaveLength(730);
    expect(new Set(days)).toEqual(new Set([1440]));
  });
});
