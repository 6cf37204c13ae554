const dayMs = 86_400_000;

/** Making a formatter takes a hundred times as long as using it. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const mostFormatters = 1000;

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  if (formatters.size >= mostFormatters) formatters.clear();
  formatters.set(zone, made);
  return made;
}

/** The zone when this runtime knows it, else UTC. */
export function knownZone(zone: string): string {
  try {
    return formatterOf(zone) ? zone : 'UTC';
  } catch {
    return 'UTC';
  }
}

/**
 * What the wall clock of a zone is ahead of UTC at a moment, ms.
 * @param zone one that this runtime knows. @throws RangeError for another one.
 */
export function offsetMs(atMs: number, zone: string): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatterOf(zone).formatToParts(atMs)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000;
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
