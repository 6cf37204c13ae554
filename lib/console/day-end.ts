import { offsetMs } from '#lib/charts/zone';
import { usableZone } from '#lib/console/show/time';

/**
 * The last second of a day in a zone, so that "until 31 January" includes that day.
 * @param day "2027-01-31". @returns null when it is no day.
 */
export function dayEnd(day: string, zone: string): Date | null {
  const nextDayUtcMs = Date.parse(`${day}T00:00:00Z`) + 86_400_000;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(nextDayUtcMs)) return null;
  const usable = usableZone(zone);
  // The offset is that of the guess first, then of the moment found: the two differ around a clock change.
  const guessMs = nextDayUtcMs - offsetMs(nextDayUtcMs, usable);
  return new Date(nextDayUtcMs - offsetMs(guessMs - 1000, usable) - 1000);
}

/**
 * The moment at which a wall clock of a zone shows a time; where it never does, because it was put forward,
 * the moment that far behind the change.
 * @param text "2027-01-31T09:30", or a day for its beginning. @returns null when it is neither.
 */
export function atWallTime(text: string, zone: string): Date | null {
  const whole = text.length === 10 ? `${text}T00:00` : text;
  const wallMs = Date.parse(`${whole}Z`);
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/.test(whole) || Number.isNaN(wallMs)) return null;
  const usable = usableZone(zone);
  const guessMs = wallMs - offsetMs(wallMs, usable);
  return new Date(wallMs - offsetMs(guessMs, usable));
}
