import { dateOf, offsetMs, startOfDate } from '#lib/core/charts/zone';

/** How finely a series of time is cut, by the wall clock of a zone. Weeks begin on Monday. */
export const steps = ['quarter', 'hour', 'day', 'week', 'month'] as const;
export type Step = (typeof steps)[number];

const quarterMs = 900_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/**
 * Where the buckets of a range begin, ms since the epoch, in order; the last ends with the range. The first
 * begins with the range, even in the middle of a day or hour. A change of clocks begins a new hour.
 * @param fromMs [from, to), whole quarters of an hour.
 */
export function bucketStarts(fromMs: number, toMs: number, step: Step, zone: string): number[] {
  const starts: number[] = [];
  const add = (startMs: number) => {
    const last = starts.at(-1);
    if (startMs < toMs && (last === undefined || startMs > last)) starts.push(Math.max(startMs, fromMs));
  };
  if (step === 'quarter') {
    for (let at = fromMs; at < toMs; at += quarterMs) starts.push(at);
    return starts;
  }
  const firstDate = dateOf(fromMs, zone);
  for (let date = firstDate, start = startOfDate(date, zone); start < toMs; ) {
    const end = startOfDate(date + dayMs, zone);
    if (step === 'hour') {
      for (const hour of hoursOf(start, end, zone)) if (hour.endMs > fromMs) add(hour.startMs);
    } else if (end > fromMs && (starts.length === 0 || begins(step, date))) add(start);
    date += dayMs;
    start = end;
  }
  return starts;
}

/** Whether a day is the first of a day, week or month. @param dateMs as `dateOf` gives it. */
function begins(step: 'day' | 'week' | 'month', dateMs: number): boolean {
  const date = new Date(dateMs);
  if (step === 'week') return date.getUTCDay() === 1;
  return step === 'day' || date.getUTCDate() === 1;
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** Hours of the wall clock in a part of the time; one that a change of clocks cuts is two. */
function hoursOf(startMs: number, endMs: number, zone: string): Span[] {
  const offset = offsetMs(startMs, zone);
  const steady = offset === offsetMs(endMs - 1, zone) && offset === offsetMs(endMs - quarterMs, zone);
  const starts: number[] = [];
  if (steady) {
    for (let at = startMs; at < endMs; at = Math.floor((at + offset) / hourMs + 1) * hourMs - offset)
      starts.push(at);
  } else {
    let last = '';
    for (let at = startMs; at < endMs; at += quarterMs) {
      const ahead = offsetMs(at, zone);
      const hour = `${ahead} ${Math.floor((at + ahead) / hourMs)}`;
      if (hour !== last) starts.push(at);
      last = hour;
    }
  }
  return starts.map((start, at) => ({ startMs: start, endMs: starts[at + 1] ?? endMs }));
}
