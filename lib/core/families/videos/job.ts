import type { JobFacts, JobReader, JobState } from '#lib/core/facts/job';
import type { ShownResource } from '#lib/core/facts/resource';
import { type JsonObject, objectIn, textIn } from '#lib/core/families/reading/json';
import { secondsIn, videoReport } from '#lib/core/families/reading/video';

/** Length of a video that a request without `seconds` gets: the protocol's default. */
const SILENT_SECONDS = 4;

/** Words of the protocol, and of vendors that keep its shape. */
const states: Readonly<Record<string, JobState>> = {
  queued: 'queued',
  completed: 'completed',
  succeeded: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  canceled: 'cancelled',
};

/** What lists show: the prompt and anything that may quote it left out. */
const viewed = [
  'id',
  'object',
  'model',
  'status',
  'progress',
  'created_at',
  'completed_at',
  'expires_at',
  'size',
  'seconds',
  'quality',
  'remixed_from_video_id',
];

/** Video jobs: charged by the seconds that a completed one says it has (contract: families/video-lengths). */
export const videoJobs: JobReader = {
  kind: 'video',
  pollPath: ({ id }) => `/videos/${encodeURIComponent(id)}`,
  made: ({ extends: _, ...facts }, view) => {
    const seconds = secondsIn(view.seconds) ?? facts.seconds;
    return { ...factsOf(facts, view), ...(seconds === undefined ? {} : { seconds }) };
  },
  read(facts, answer) {
    const video = videoIn(answer);
    if (video === null) return null;
    // An unknown word is not an end.
    const status = textIn(video.status) ?? '';
    const state = Object.hasOwn(states, status) ? (states[status] ?? 'running') : 'running';
    // An extension's length is that of the whole video, of which only the new part was made.
    const told = facts.extends === 1 ? undefined : video.seconds;
    const report = state === 'completed' ? videoReport(factsOf(facts, video), told, 1, SILENT_SECONDS) : null;
    return { state, report, view: viewOf(video) };
  },
};

/** The video that an answer shows; none for the answer to a deletion, which only shows its id. */
export function shownVideos(answer: unknown): readonly ShownResource[] {
  const video = videoIn(answer);
  const id = video && textIn(video.id);
  return id === null ? [] : [{ kind: 'video', id }];
}

/** The character that the answer to its creation shows. */
export function shownCharacter(answer: unknown): readonly ShownResource[] {
  const character = objectIn(answer);
  const id = textIn(character?.id);
  return id === null || (character?.error ?? null) !== null ? [] : [{ kind: 'character', id }];
}

/** A video object; null for an error, a deletion, a list or anything else. */
function videoIn(answer: unknown): JsonObject | null {
  const video = objectIn(answer);
  if (video === null || textIn(video.id) === null) return null;
  return video.object === 'video' || textIn(video.status) !== null ? video : null;
}

/** What was made decides over what was asked for. */
function factsOf(facts: JobFacts, video: JsonObject): JobFacts {
  const size = textIn(video.size);
  return size === null ? facts : { ...facts, size };
}

function viewOf(video: JsonObject): JsonObject {
  const view: Record<string, unknown> = {};
  for (const name of viewed) if (video[name] !== undefined) view[name] = video[name];
  return { ...view, error: errorOf(video), prompt: null };
}

/** Its message may quote the prompt, which is not stored: who reads the video itself gets it. */
function errorOf({ error }: JsonObject): JsonObject | null {
  if ((error ?? null) === null) return null;
  const message = "GET /v1/videos/{id} shows the provider's own message.";
  return { code: textIn(objectIn(error)?.code) ?? 'failed', message };
}
