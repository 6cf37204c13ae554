import { clock } from '#lib/console/show/bucket-labels';
import { showDay, usableZone } from '#lib/console/show/time';

/**
 * [from, to), formatted: "1 Nov – 22 Nov 2026", with times of day unless it begins and ends at midnight. All
 * ms since the epoch.
 */
export function showRange(fromMs: number, toMs: number, zone: string): string {
  const usable = usableZone(zone);
  const [begins, ends] = [clock(fromMs, usable), clock(toMs, usable)];
  const lastDay = showDay(toMs - 1, usable);
  const end = ends === '00:00' ? lastDay : `${showDay(toMs, usable)}, ${ends}`;
  const firstDay = showDay(fromMs, usable);
  if (begins !== '00:00') return `${firstDay}, ${begins} – ${end}`;
  if (firstDay === lastDay) return end;
  const sameYear = firstDay.slice(-4) === lastDay.slice(-4);
  return `${sameYear ? firstDay.slice(0, -5) : firstDay} – ${end}`;
}
