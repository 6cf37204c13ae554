import { tzOffset } from '@date-fns/tz';

const dayMs = 86_400_000;

/** The zone when this runtime knows it, else UTC. */
export function knownZone(zone: string): string {
  return Number.isNaN(tzOffset(zone, new Date(0))) ? 'UTC' : zone;
}

/**
 * What the wall clock of a zone is ahead of UTC at a moment, ms.
 * @param zone one that this runtime knows. @throws RangeError for another one.
 */
export function offsetMs(atMs: number, zone: string): number {
  const minutes = tzOffset(zone, new Date(atMs));
  if (Number.isNaN(minutes)) throw new RangeError(`unknown time zone "${zone}"`);
  return Math.round(minutes * 60_000);
}

/** The calendar day of a moment in a zone, as the ms since the epoch at which that day begins in UTC. */
export function dateOf(atMs: number, zone: string): number {
  return Math.floor((atMs + offsetMs(atMs, zone)) / dayMs) * dayMs;
}

/**
 * The first moment of a calendar day in a zone. Where clocks change at midnight, that is when the date
 * changes: the end of a gap, or the first of two midnights if both belong to the day.
 * @param dateMs the day as `dateOf` gives it.
 */
export function startOfDate(dateMs: number, zone: string): number {
  const [before, after] = [offsetMs(dateMs - dayMs, zone), offsetMs(dateMs + dayMs, zone)];
  const [first, second] = [dateMs - before, dateMs - after];
  if (before === after || offsetMs(first, zone) === before) return first;
  // Clocks changed by that midnight: put forward over it, both readings fail and the gap's end is the day's start.
  return offsetMs(second, zone) === after ? second : first;
}

/** Start of the day that a moment lies in, ms since the epoch. */
export function dayStart(atMs: number, zone: string): number {
  return startOfDate(dateOf(atMs, zone), zone);
}

/** Start of the first day that begins at or after a moment. */
export function dayCeiling(atMs: number, zone: string): number {
  const start = dayStart(atMs, zone);
  return start === atMs ? atMs : daysLater(atMs, zone, 1);
}

/** Start of the day that many calendar days after (below 0: before) that of a moment. */
export function daysLater(atMs: number, zone: string, days: number): number {
  return startOfDate(dateOf(atMs, zone) + days * dayMs, zone);
}

/** Start of the day that many calendar months before that of a moment; of a shorter month, its last day. */
export function monthsEarlier(atMs: number, zone: string, months: number): number {
  const date = new Date(dateOf(atMs, zone));
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() - months];
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return startOfDate(Date.UTC(year, month, Math.min(date.getUTCDate(), last)), zone);
}

/** "2027-01-31": the day of a moment in a zone. */
export function dayName(atMs: number, zone: string): string {
  return new Date(dateOf(atMs, zone)).toISOString().slice(0, 10);
}

/** "2027-01-31T09:30:00+05:45": a moment by the wall clock of a zone, as every program reads it. */
export function isoInZone(atMs: number, zone: string): string {
  const offset = offsetMs(atMs, zone);
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const two = (part: number) => String(part).padStart(2, '0');
  const wall = new Date(atMs + offset).toISOString().slice(0, 19);
  return `${wall}${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
