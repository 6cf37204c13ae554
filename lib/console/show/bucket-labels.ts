import { parts, showDay, usableZone } from '#lib/console/show/time';
import type { Step } from '#lib/core/charts/buckets';
import { offsetMs } from '#lib/core/charts/zone';

/** The labels of a bucket: short for an axis, complete for a table. */
export interface BucketLabel {
  readonly short: string;
  readonly long: string;
}

/**
 * The labels of a chart's buckets in a zone. If clocks change in the range, hours show their offset.
 * @param startsMs their starts, in order. @param toMs the end of the last one. All ms since the epoch.
 */
export function bucketLabels(
  startsMs: readonly number[],
  toMs: number,
  step: Step,
  zone: string,
): BucketLabel[] {
  const usable = usableZone(zone);
  const [first = toMs] = startsMs;
  const changes = offsetMs(first, usable) !== offsetMs(toMs - 1, usable);
  return startsMs.map((startMs, at) => {
    const endMs = startsMs[at + 1] ?? toMs;
    if (step === 'month')
      return { short: month(startMs, usable), long: `${month(startMs, usable)} ${year(startMs, usable)}` };
    if (step === 'week') {
      return { short: day(startMs, usable), long: `${day(startMs, usable)} – ${showDay(endMs - 1, usable)}` };
    }
    if (step === 'day')
      return { short: day(startMs, usable), long: `${weekday(startMs, usable)} ${showDay(startMs, usable)}` };
    const [from, to] = [clock(startMs, usable), clock(endMs, usable)];
    const offset = changes ? ` (${offsetOf(startMs, usable)})` : '';
    return {
      short: from === '00:00' ? day(startMs, usable) : from,
      long: `${day(startMs, usable)}, ${from}–${to}${offset}`,
    };
  });
}

/** "14:05". */
export function clock(atMs: number, zone: string): string {
  const read = parts(atMs, { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return `${read('hour')}:${read('minute')}`;
}

/** "14:05:31". */
export function clockWithSeconds(atMs: number, zone: string): string {
  const read = parts(atMs, { timeZone: usableZone(zone), minute: '2-digit', second: '2-digit' });
  return `${clock(atMs, usableZone(zone))}:${read('second').padStart(2, '0')}`;
}

/** "21 Nov". */
function day(atMs: number, zone: string): string {
  const read = parts(atMs, { timeZone: zone, day: 'numeric', month: 'short' });
  return `${read('day')} ${read('month')}`;
}

function weekday(atMs: number, zone: string): string {
  return parts(atMs, { timeZone: zone, weekday: 'short' })('weekday');
}

function month(atMs: number, zone: string): string {
  return parts(atMs, { timeZone: zone, month: 'short' })('month');
}

function year(atMs: number, zone: string): string {
  return parts(atMs, { timeZone: zone, year: 'numeric' })('year');
}

function offsetOf(atMs: number, zone: string): string {
  const offset = parts(atMs, { timeZone: zone, timeZoneName: 'longOffset' })('timeZoneName');
  return offset === 'GMT' ? 'UTC' : offset.replace('GMT', 'UTC');
}
