import { Collection, type ProviderMemory } from '#tools/sandbox/content/memory';
import { isGone, type JobCourse, standOf } from '#tools/sandbox/scenario/job';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** A video as the simulated provider stores it. */
export interface Video {
  readonly id: string;
  readonly model: string;
  /** The name that decides about requests on it: the prompt's directive, otherwise the model. */
  readonly asked: string;
  readonly prompt: string;
  readonly seconds: string;
  readonly size: string;
  readonly course: JobCourse;
  /** Length of its content. */
  readonly bytes: number;
  readonly remixedFrom: string | null;
}

export const videos = new Collection<Video>();

/** @throws ProviderFault 404 for an id that is unknown or gone. */
export function getVideo(memory: ProviderMemory, id: string, nowMs: number): Video {
  const video = videos.find(memory, id);
  if (video !== null && !isGone(video.course, nowMs)) return video;
  throw new ProviderFault(404, `Video with id '${id}' not found.`, null, 'id');
}

/** The object in the answers of create, retrieve and list. */
export function shownVideo(video: Video, nowMs: number): object {
  const { state, progress } = standOf(video.course, nowMs);
  const { startedAtMs, lastsMs } = video.course;
  const created = Math.floor(startedAtMs / 1000);
  const done = state === 'completed';
  return {
    id: video.id,
    object: 'video',
    created_at: created,
    status: state,
    completed_at: done ? Math.floor((startedAtMs + lastsMs) / 1000) : null,
    error:
      state === 'failed'
        ? { code: 'moderation_blocked', message: 'Your request was blocked by our moderation system.' }
        : null,
    expires_at: done ? created + 3_600 : null,
    model: video.model,
    progress,
    prompt: video.prompt,
    remixed_from_video_id: video.remixedFrom,
    seconds: video.seconds,
    size: video.size,
    quality: 'standard',
  };
}
