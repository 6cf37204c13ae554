import { type ModelName, numberParam } from '#tools/sandbox/scenario/name';

/**
 * The course of a job, by its model's name: `?job_ms=` until it ends (300); `?job=failed`, `?job=never` or
 * `?job=gone` (the provider has lost it) if it does not complete. For a quarter of the time it is queued.
 */
export interface JobCourse {
  readonly startedAtMs: number;
  readonly lastsMs: number;
  readonly end: JobEnd;
}

type JobEnd = 'completed' | 'failed' | 'never' | 'gone';
const ends: readonly JobEnd[] = ['completed', 'failed', 'never', 'gone'];

export interface JobStand {
  readonly state: 'queued' | 'in_progress' | 'completed' | 'failed';
  /** Percent, 0 to 100. */
  readonly progress: number;
}

const usualMs = 300;

/** @param lastsMs if the name does not say how long. */
export function jobCourse(name: ModelName, startedAtMs: number, lastsMs = usualMs): JobCourse {
  const end = ends.find((one) => one === name.params.get('job')) ?? 'completed';
  return { startedAtMs, lastsMs: numberParam(name, 'job_ms', lastsMs), end };
}

/** The state of a job. @param nowMs ms since the epoch. */
export function standOf(course: JobCourse, nowMs: number): JobStand {
  const { end } = course;
  const part = partOf(course, nowMs);
  if (part >= 1 && (end === 'completed' || end === 'failed')) {
    return { state: end, progress: end === 'completed' ? 100 : 50 };
  }
  const progress = Math.max(0, Math.min(99, Math.floor(part * 100)));
  return { state: part < 0.25 ? 'queued' : 'in_progress', progress };
}

/** Whether the provider has lost it by now. */
export function isGone(course: JobCourse, nowMs: number): boolean {
  return course.end === 'gone' && partOf(course, nowMs) >= 1;
}

function partOf({ startedAtMs, lastsMs }: JobCourse, nowMs: number): number {
  return lastsMs <= 0 ? 1 : (nowMs - startedAtMs) / lastsMs;
}
