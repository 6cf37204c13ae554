import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayCeiling, dayName, dayStart, daysLater, knownZone, monthsEarlier } from '#lib/core/charts/zone';

const at = (iso: string) => Date.parse(iso);
const iso = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');

describe('the start of a day', () => {
  it.each([
    ['Asia/Kathmandu', '2026-11-22T10:00:00Z', '2026-11-21T18:15:00Z'],
    ['Asia/Kathmandu', '2026-11-21T18:14:59Z', '2026-11-20T18:15:00Z'],
    ['Asia/Kolkata', '2026-11-22T10:00:00Z', '2026-11-21T18:30:00Z'],
    ['UTC', '2026-11-22T10:00:00Z', '2026-11-22T00:00:00Z'],
    // Lord Howe: +10:30, in summer +11.
    ['Australia/Lord_Howe', '2026-07-01T00:00:00Z', '2026-06-30T13:30:00Z'],
    ['Australia/Lord_Howe', '2026-12-01T00:00:00Z', '2026-11-30T13:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-04T12:00:00Z', '2026-10-03T13:30:00Z'],
    ['Australia/Lord_Howe', '2026-04-05T12:00:00Z', '2026-04-04T13:00:00Z'],
    // Both clock changes of New York.
    ['America/New_York', '2026-03-08T12:00:00Z', '2026-03-08T05:00:00Z'],
    ['America/New_York', '2026-11-01T12:00:00Z', '2026-11-01T04:00:00Z'],
    // Clocks go from 00:00 to 01:00: there is no midnight.
    ['Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00Z'],
    // From 01:00 back to 00:00: the day has two midnights.
    ['America/Havana', '2026-11-01T12:00:00Z', '2026-11-01T04:00:00Z'],
    // From 24:00 back to 23:00: the day before has 25 hours.
    ['America/Santiago', '2026-04-05T12:00:00Z', '2026-04-05T04:00:00Z'],
    ['America/Santiago', '2026-04-05T03:30:00Z', '2026-04-04T03:00:00Z'],
  ])('in %s of %s is %s', (zone, moment, start) => {
    expect(iso(dayStart(at(moment), zone))).toBe(start);
  });

  it.each([
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
    'America/Havana',
    'Africa/Cairo',
    'America/Santiago',
    'Pacific/Chatham',
  ])('in %s is never after its moment, and at a whole quarter of an hour that day has', (zone) => {
    const moment = fc.integer({ min: at('2000-01-01T00:00:00Z'), max: at('2100-01-01T00:00:00Z') });
    fc.assert(
      fc.property(moment, (ms) => {
        const start = dayStart(ms, zone);
        expect(start).toBeLessThanOrEqual(ms);
        expect(start % 900_000).toBe(0);
        expect(dayName(start, zone)).toBe(dayName(ms, zone));
        expect(dayName(start - 1, zone) < dayName(start, zone)).toBe(true);
        expect(daysLater(ms, zone, 1)).toBeGreaterThan(ms);
        expect(dayCeiling(start, zone)).toBe(start);
      }),
    );
  });

  it.each([
    ['2026-11-22T10:00:00Z', 13, '2025-10-21T18:15:00Z'],
    ['2026-03-30T18:00:00Z', 1, '2026-02-27T18:15:00Z'],
    ['2024-03-30T18:30:00Z', 1, '2024-02-28T18:15:00Z'],
  ])('%s, %i months earlier in Kathmandu, is %s', (moment, months, start) => {
    expect(iso(monthsEarlier(at(moment), 'Asia/Kathmandu', months))).toBe(start);
  });

  it('the start of a day in an unknown zone is that of UTC', () => {
    expect([knownZone('Mars/Base'), knownZone('Asia/Kolkata')]).toEqual(['UTC', 'Asia/Kolkata']);
  });
});
