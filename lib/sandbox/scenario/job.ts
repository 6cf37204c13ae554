import { type ModelName, numberParam } from '#lib/sandbox/scenario/name';

/**
 * How a job of the simulated provider goes, by its model's name: `?job_ms=` until it ends (300),
 * `?job=failed` or `?job=never` for the other ends; a quarter of the time it is still queued.
 */
export interface JobCourse {
  readonly startedAtMs: number;
  readonly lastsMs: number;
  readonly end: 'completed' | 'failed' | 'never';
}

export interface JobStand {
  readonly state: 'queued' | 'in_progress' | 'completed' | 'failed';
  /** Per cent, 0 to 100. */
  readonly progress: number;
}

const usualMs = 300;

export function jobCourse(name: ModelName, startedAtMs: number): JobCourse {
  const end = name.params.get('job');
  return {
    startedAtMs,
    lastsMs: numberParam(name, 'job_ms', usualMs),
    end: end === 'failed' || end === 'never' ? end : 'completed',
  };
}

/** @param nowMs when somebody looks, ms since the epoch. */
export function standOf({ startedAtMs, lastsMs, end }: JobCourse, nowMs: number): JobStand {
  const part = lastsMs <= 0 ? 1 : (nowMs - startedAtMs) / lastsMs;
  if (part >= 1 && end !== 'never') return { state: end, progress: end === 'completed' ? 100 : 50 };
  const progress = Math.max(0, Math.min(99, Math.floor(part * 100)));
  return { state: part < 0.25 ? 'queued' : 'in_progress', progress };
}
