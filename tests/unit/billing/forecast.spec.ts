import { describe, expect, it } from 'vitest';
import { forecastOf } from '#lib/control/billing/forecast';
import { monthOf } from '#lib/core/charts/ranges';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const usd = 1_000_000_000n;

describe('the forecast of a month (contract: money/forecast)', () => {
  const nowMs = Date.parse('2026-11-21T00:00:00Z');
  const pace = {
    spentNano: 40n * usd,
    recentNano: 14n * usd,
    sinceMs: nowMs - 7 * dayMs,
    nowMs,
    endsMs: nowMs + 10 * dayMs,
  };

  it('is what was spent, and the average of the last 7 days for the rest', () => {
    expect(forecastOf(pace)).toEqual({ nano: 60n * usd, days: 7 });
  });

  it('uses the time since the first spend if that is shorter, and is none before a day', () => {
    expect(forecastOf({ ...pace, sinceMs: nowMs - 3.5 * dayMs })).toEqual({ nano: 80n * usd, days: 3 });
    expect(forecastOf({ ...pace, sinceMs: nowMs - dayMs })).toMatchObject({ days: 1 });
    expect(forecastOf({ ...pace, sinceMs: nowMs - dayMs + 1 })).toBeNull();
  });

  it('is what was spent when the month is over, or when nothing was spent lately', () => {
    expect(forecastOf({ ...pace, endsMs: nowMs })?.nano).toBe(40n * usd);
    expect(forecastOf({ ...pace, endsMs: nowMs - 1 })?.nano).toBe(40n * usd);
    expect(forecastOf({ ...pace, recentNano: 0n })?.nano).toBe(40n * usd);
  });

  it('takes days on which clocks change for as long as they are', () => {
    // A dollar an hour; 1 November has 25 hours in Havana, and 8 March has 23.
    const atHourly = (now: string) => {
      const atMs = Date.parse(now);
      const { fromMs, toMs } = monthOf(atMs, 'America/Havana');
      const spentNano = BigInt((atMs - fromMs) / hourMs) * usd;
      const recentNano = 7n * 24n * usd;
      const forecast = forecastOf({
        spentNano,
        recentNano,
        sinceMs: atMs - 7 * dayMs,
        nowMs: atMs,
        endsMs: toMs,
      });
      return Number((forecast?.nano ?? 0n) / usd);
    };
    expect(atHourly('2026-11-01T04:00:00Z')).toBe(30 * 24 + 1);
    expect(atHourly('2026-11-30T23:00:00Z')).toBe(30 * 24 + 1);
    expect(atHourly('2026-03-02T12:00:00Z')).toBe(31 * 24 - 1);
    expect(atHourly('2027-02-28T12:00:00Z')).toBe(28 * 24);
  });
});
