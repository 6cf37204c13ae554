import { isRefusal, type Refusal } from '#lib/core/errors';
import type { JobFacts } from '#lib/core/facts/job';
import type { AskedMedia } from '#lib/core/families/family';
import { wrongType } from '#lib/core/families/reading/fields';
import { Figures } from '#lib/core/families/reading/figures';
import type { Scan } from '#lib/core/families/scan';
import { type UsageReport, usageOf } from '#lib/core/metering/usage';

/**
 * Reading what a request for a video asks for and what its end used. Facts of a video job: `seconds` of
 * each, `samples`, `size` (or resolution) and `sound: "off"`; a silent field is left out.
 */

/**
 * A length in whole seconds, rounded up: a number, or a string of one as some dialects send it.
 * @returns null when it is absent; `invalid_body` for anything else, since the hold depends on it.
 */
export function readSeconds(scan: Scan, path: string): number | null | Refusal {
  const found = scan.found.get(path);
  if (found === undefined) return null;
  const seconds = secondsIn(found.value);
  return seconds !== null && seconds > 0 ? seconds : wrongType(found, 'a number of seconds above 0');
}

/** A count of 1 or more; a number, or a string of one. */
export function readSamples(scan: Scan, path: string): number | null | Refusal {
  const seconds = readSeconds(scan, path);
  const found = scan.found.get(path);
  if (found === undefined || isRefusal(seconds)) return seconds;
  return seconds === Number(found.value) ? seconds : wrongType(found, 'a whole number, 1 or more');
}

/** Eleven days: more is not a plausible length, and its cost would not fit the ledger. */
const MOST_SECONDS = 1_000_000;

/** Whole seconds, rounded up, of a number or a string of one; null for anything else. */
export function secondsIn(value: unknown): number | null {
  const plain = typeof value === 'string' && /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : value;
  if (typeof plain !== 'number' || !Number.isFinite(plain) || plain < 0) return null;
  const whole = Math.ceil(plain);
  return whole <= MOST_SECONDS ? whole : null;
}

/** A video whose length the request does not name: the longest that providers make by default. */
const SILENT_SECONDS = 12;
/** A remix is as long as the video that it starts from, which the request does not say. */
const REMIX_SECONDS = 20;

/** The videos that a request asks for. @param remix it starts from another video. */
export function askedVideos(job: JobFacts, choices: number, remix: boolean): AskedMedia {
  const silent = remix ? REMIX_SECONDS : SILENT_SECONDS;
  const seconds = typeof job.seconds === 'number' ? job.seconds : silent;
  return { tokens: 0, unit: 'videoSecond', quantity: seconds * choices, names: unitsOf(job) };
}

/** Entries of a price map that fit a video job, the closest first; none: its size was not said. */
function unitsOf({ size, sound }: JobFacts): readonly string[] {
  const sizes = typeof size === 'string' ? [size] : [];
  return sound === 'off' ? [...sizes.map((one) => `${one}/silent`), 'silent', ...sizes] : sizes;
}

/**
 * What a finished job is charged by (contract: families/video-lengths).
 * @param told the length of each as the answer reports it; undefined: that of the request, else `silent`.
 * @param silent seconds that the provider makes by default; charging by them is flagged.
 */
export function videoReport(facts: JobFacts, told: unknown, samples: number, silent: number): UsageReport {
  const figures = new Figures();
  const answered = secondsIn(told);
  if (told !== undefined && told !== null && answered === null) figures.flag('usage_unreadable');
  const asked = answered ?? secondsIn(facts.seconds);
  if (asked === null && samples > 0) figures.flag('video_length_assumed');
  return {
    usage: usageOf({ videoSeconds: (asked ?? silent) * samples }),
    serviceTier: null,
    nested: [],
    units: unitsOf(facts),
    ...figures.marks(),
  };
}
