import type { Step } from '#lib/core/charts/buckets';
import { dateOf, dayStart, daysLater, startOfDate } from '#lib/core/charts/zone';

const quarterMs = 900_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Ranges of time that move with the clock; an address that names one keeps its meaning. */
export const rangeNames = ['24h', 'today', '7d', '30d', 'month', 'last-month', '90d', '12m'] as const;
export type RangeName = (typeof rangeNames)[number];

/** A range and what it is compared with; all [from, to), ms since the epoch. */
export interface NamedRange {
  readonly fromMs: number;
  readonly toMs: number;
  /** As much of the period before: a day that is half over is compared with the same half of another one. */
  readonly before: { readonly fromMs: number; readonly toMs: number };
}

/** The range that a name means at a moment, by the wall clock of a zone. */
export function rangeNamed(name: RangeName, nowMs: number, zone: string): NamedRange {
  const toMs = Math.floor(nowMs / quarterMs + 1) * quarterMs;
  switch (name) {
    case '24h': {
      const fromMs = toMs - dayMs;
      return { fromMs, toMs, before: { fromMs: fromMs - dayMs, toMs: fromMs } };
    }
    case 'last-month': {
      const [fromMs, endMs] = [monthStart(nowMs, zone, 1), monthStart(nowMs, zone, 0)];
      return { fromMs, toMs: endMs, before: { fromMs: monthStart(nowMs, zone, 2), toMs: fromMs } };
    }
    case 'month':
    case '12m':
      return monthsUpTo(toMs, zone, name === 'month' ? 1 : 12);
    default:
      return daysUpTo(toMs, zone, daysIn[name]);
  }
}

/** Calendar days of the ranges that count them. */
const daysIn = { today: 1, '7d': 7, '30d': 30, '90d': 90 } as const;

/** So many calendar days, today included, against as many before up to the same time of day. */
function daysUpTo(toMs: number, zone: string, days: number): NamedRange {
  const last = toMs - 1;
  const fromMs = daysLater(last, zone, 1 - days);
  const beforeMs = { fromMs: daysLater(last, zone, 1 - 2 * days), toMs: sameTime(toMs, zone, -days) };
  return { fromMs, toMs, before: { ...beforeMs, toMs: Math.min(beforeMs.toMs, fromMs) } };
}

/** So many calendar months, this one included, against as many before up to the same day and time. */
function monthsUpTo(toMs: number, zone: string, months: number): NamedRange {
  const last = toMs - 1;
  const fromMs = monthStart(last, zone, months - 1);
  const startMs = monthStart(last, zone, 2 * months - 1);
  const [thisMonth, thatMonth] = [monthStart(last, zone, 0), monthStart(last, zone, months)];
  const passed = Math.round((dateOf(last, zone) - dateOf(thisMonth, zone)) / dayMs);
  const endMs = daysLater(thatMonth, zone, passed) + (toMs - dayStart(last, zone));
  // A shorter month has no day of that number: all of it is what there is to compare with.
  const latest = monthStart(last, zone, months - 1);
  return { fromMs, toMs, before: { fromMs: startMs, toMs: Math.min(endMs, latest) } };
}

/** The same time of day, so many days later; where clocks changed between, as long after midnight. */
function sameTime(atMs: number, zone: string, days: number): number {
  const last = atMs - 1;
  return daysLater(last, zone, days) + (atMs - dayStart(last, zone));
}

/** Start of the calendar month that many months before that of a moment. */
function monthStart(atMs: number, zone: string, monthsBefore: number): number {
  const date = new Date(dateOf(atMs, zone));
  return startOfDate(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - monthsBefore, 1), zone);
}

/** The calendar month of a moment by the wall clock of a zone: [from, to), ms since the epoch. */
export function monthOf(atMs: number, zone: string): { readonly fromMs: number; readonly toMs: number } {
  return { fromMs: monthStart(atMs, zone, 0), toMs: monthStart(atMs, zone, -1) };
}

/** How long a step lasts at least, and the lengths of a range between which a chart in such steps can be read. */
const readable: Readonly<Record<Step, { readonly leastMs: number; readonly mostMs: number }>> = {
  quarter: { leastMs: 0, mostMs: 2 * dayMs },
  hour: { leastMs: 2 * hourMs, mostMs: 8 * dayMs },
  day: { leastMs: dayMs + hourMs, mostMs: 190 * dayMs },
  week: { leastMs: 13 * dayMs, mostMs: 1_100 * dayMs },
  month: { leastMs: 45 * dayMs, mostMs: 6_000 * dayMs },
};

/** The steps in which a range of this length can be read, the finest first. */
export function stepsFor(lengthMs: number): Step[] {
  const found = Object.entries(readable).flatMap(([step, { leastMs, mostMs }]) =>
    lengthMs >= leastMs && lengthMs <= mostMs ? [stepOf(step)] : [],
  );
  return found.length > 0 ? found : ['month'];
}

/** A key of `readable`. */
function stepOf(name: string): Step {
  return name as Step;
}

/** The step of a range when none is chosen: some twenty to a hundred bars. */
export function usualStep(lengthMs: number): Step {
  if (lengthMs <= 6 * hourMs) return 'quarter';
  if (lengthMs <= 3 * dayMs) return 'hour';
  if (lengthMs <= 100 * dayMs) return 'day';
  return lengthMs <= 300 * dayMs ? 'week' : 'month';
}
