import { knownZone, offsetMs, startOfDate } from '#lib/core/charts/zone';

const dayMs = 86_400_000;

/** "2027-01-31" as the ms since the epoch at which that day begins in UTC; null when it is not a day. */
function dateIn(day: string): number | null {
  const dateMs = Date.parse(`${day}T00:00:00Z`);
  return /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(dateMs) ? dateMs : null;
}

/** The first moment of a day in a zone. @param day "2027-01-31". @returns null when it is not a day. */
export function dayBegin(day: string, zone: string): Date | null {
  const dateMs = dateIn(day);
  return dateMs === null ? null : new Date(startOfDate(dateMs, knownZone(zone)));
}

/**
 * The last second of a day in a zone, so that "until 31 January" includes that day.
 * @param day "2027-01-31". @returns null when it is not a day.
 */
export function dayEnd(day: string, zone: string): Date | null {
  const dateMs = dateIn(day);
  return dateMs === null ? null : new Date(startOfDate(dateMs + dayMs, knownZone(zone)) - 1000);
}

/**
 * The moment at which a wall clock of a zone shows a time; where it never does, because it was put forward,
 * the moment that far after the change.
 * @param text "2027-01-31T09:30", or a day for its beginning. @returns null when it is neither.
 */
export function atWallTime(text: string, zone: string): Date | null {
  const begin = dayBegin(text, zone);
  if (begin) return begin;
  const wallMs = Date.parse(`${text}Z`);
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/.test(text) || Number.isNaN(wallMs)) return null;
  const known = knownZone(zone);
  const guessMs = wallMs - offsetMs(wallMs, known);
  return new Date(wallMs - offsetMs(guessMs, known));
}
