/** Formats times and durations in the workspace's zone; the locale is fixed, so server and tests agree. */

/** Creating a formatter takes a hundred times as long as using it, and a page of rows needs the same few. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const mostFormatters = 1000;

function formatterOf(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const name = JSON.stringify(options);
  const known = formatters.get(name);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-GB', options);
  if (formatters.size >= mostFormatters) formatters.clear();
  formatters.set(name, made);
  return made;
}

/** The stored zone if this machine knows it, otherwise UTC. */
export function usableZone(zone: string): string {
  try {
    return formatterOf({ timeZone: zone }) ? zone : 'UTC';
  } catch {
    return 'UTC';
  }
}

/** The parts of a moment by name; `''` for a missing one. */
export function parts(atMs: number, options: Intl.DateTimeFormatOptions): (part: string) => string {
  const found = formatterOf(options).formatToParts(atMs);
  return (part) => found.find(({ type }) => type === part)?.value ?? '';
}

/** "21 Nov, 14:03:26". */
export function showMoment(atMs: number, zone: string): string {
  const read = parts(atMs, {
    timeZone: usableZone(zone),
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  return `${read('day')} ${read('month')}, ${read('hour')}:${read('minute')}:${read('second')}`;
}

/** "21 Nov, 14:03". */
export function showMinute(atMs: number, zone: string): string {
  return showMoment(atMs, zone).slice(0, -3);
}

/** "21 Nov 2026". */
export function showDay(atMs: number, zone: string): string {
  const read = parts(atMs, {
    timeZone: usableZone(zone),
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
  return `${read('day')} ${read('month')} ${read('year')}`;
}

/** "2 Jul 2026", "Jul 2026". @param day "2026-07-02", or "2026-07". */
export function showDate(day: string): string {
  const shown = showDay(Date.parse(`${day.slice(0, 7)}${day.slice(7) || '-01'}T00:00:00Z`), 'UTC');
  return day.length > 7 ? shown : shown.slice(shown.indexOf(' ') + 1);
}

/** "November 2026". @param month "2026-11". */
export function showMonth(month: string): string {
  const read = parts(Date.parse(`${month}-01T00:00:00Z`), {
    timeZone: 'UTC',
    month: 'long',
    year: 'numeric',
  });
  return `${read('month')} ${read('year')}`;
}

/** The date in the zone, as forms write it: "2027-01-31". */
export function wallDay(atMs: number, zone: string): string {
  const read = parts(atMs, {
    timeZone: usableZone(zone),
    day: '2-digit',
    month: '2-digit',
    year: 'numeric',
  });
  return `${read('year')}-${read('month')}-${read('day')}`;
}

/** The zone with its offset at that moment: "Asia/Kolkata, UTC+05:30"; for UTC only "UTC". */
export function showZone(zone: string, atMs: number): string {
  const usable = usableZone(zone);
  if (usable === 'UTC') return 'UTC';
  const offset = parts(atMs, { timeZone: usable, timeZoneName: 'longOffset' })('timeZoneName');
  return `${usable}, ${offset === 'GMT' ? 'UTC+00:00' : offset.replace('GMT', 'UTC')}`;
}

/**
 * The zone with the offsets at the edges of a range: "America/New_York, UTC-04:00 and UTC-05:00" where they differ.
 * @param toMs exclusive.
 */
export function showZoneOver(zone: string, fromMs: number, toMs: number): string {
  const [first, last] = [showZone(zone, fromMs), showZone(zone, toMs - 1)];
  return first === last ? first : `${first} and ${last.split(', ')[1]}`;
}

/** "just now", "4 min ago", "3 h ago", "12 d ago"; in the future "in 4 min". */
export function showAgo(atMs: number, nowMs: number): string {
  const seconds = Math.round(Math.abs(nowMs - atMs) / 1000);
  const text =
    seconds < 60
      ? null
      : seconds < 3600
        ? `${Math.floor(seconds / 60)} min`
        : seconds < 86_400
          ? `${Math.floor(seconds / 3600)} h`
          : `${Math.floor(seconds / 86_400)} d`;
  if (text === null) return 'just now';
  return atMs > nowMs ? `in ${text}` : `${text} ago`;
}

/** "4.2 ms", "320 ms", "1.24 s", "2 min 05 s". */
export function showSpan(ms: number): string {
  if (ms < 9.95) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_995) return `${(ms / 1000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}
