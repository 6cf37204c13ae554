import type { JobFacts, JobReader, JobSight, JobState } from '#lib/core/facts/job';
import { objectIn } from '#lib/core/families/reading/json';
import { usageOfResponse } from '#lib/core/families/responses/usage';

/** An answer that its budget or a filter cut short has ended well: its usage is charged. */
const states: ReadonlyMap<unknown, JobState> = new Map<unknown, JobState>([
  ['queued', 'queued'],
  ['in_progress', 'running'],
  ['completed', 'completed'],
  ['incomplete', 'completed'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
]);

/** Responses in the background: the object that create, poll and cancel answer alike (contract: jobs/jobs). */
export const responseJobs: JobReader = {
  kind: 'response',
  pollPath: ({ id }) => `/responses/${encodeURIComponent(id)}`,
  read(facts: JobFacts, answer: unknown): JobSight | null {
    const response = objectIn(answer);
    const state = response?.object === 'response' ? states.get(response.status) : undefined;
    if (state === undefined) return null;
    const { imageModel } = facts;
    const report = usageOfResponse(answer, typeof imageModel === 'string' ? imageModel : null);
    return { state, report, view: null };
  },
};
