import { fileAnswer } from '#tools/sandbox/content/film';
import type { ProviderMemory } from '#tools/sandbox/content/memory';
import {
  type Answer,
  type Dialect,
  freeOfCharge,
  type Opened,
  plainFrame,
  type ReceivedRequest,
  whole,
} from '#tools/sandbox/dialect';
import { jobCourse, standOf } from '#tools/sandbox/scenario/job';
import { findDirective, keptName, numberParam, parseName } from '#tools/sandbox/scenario/name';
import { errorObject, invalidValue, ProviderFault } from '#tools/sandbox/scenario/provider-fault';
import { readRemixPrompt, readSourceAsk, readVideoAsk } from '#tools/sandbox/videos/ask';
import { handlesCharacter, openCharacter } from '#tools/sandbox/videos/character';
import { getVideo, videos as kept, shownVideo, type Video } from '#tools/sandbox/videos/video';

const path = /^\/videos(?:\/(?!edits$|extensions$|characters(?:$|\/))([^/]+)(\/content|\/remix)?)?$/;
/** What starts from a video that the body names or brings. */
const startsFromBody: ReadonlySet<string> = new Set(['/videos/edits', '/videos/extensions']);
/** The methods of each path, by its end. */
const methods: Readonly<Record<string, readonly string[]>> = {
  '': ['POST', 'GET'],
  id: ['GET', 'DELETE'],
  '/content': ['GET'],
  '/remix': ['POST'],
};
/** Defaults: how long a job takes, the bytes of its video. */
const usualMs = 1_000;
const usualBytes = 100_000;

/**
 * The videos family as api.openai.com spoke it. A name's parameters: those of jobs,
 * `bytes=` of the content, and `made=` seconds if the video is not as long as requested.
 */
export const videos: Dialect = {
  id: 'videos',

  handles: (method, asked) => {
    if (startsFromBody.has(asked)) return method === 'POST';
    if (handlesCharacter(method, asked)) return true;
    const [found, id, end] = path.exec(asked) ?? [];
    return found !== undefined && (methods[end ?? (id === undefined ? '' : 'id')]?.includes(method) ?? false);
  },

  open(seen, _cache, memory) {
    if (startsFromBody.has(seen.path)) return startFrom(seen, memory);
    if (handlesCharacter(seen.method, seen.path)) return openCharacter(seen, memory);
    const [, written, end] = path.exec(seen.path) ?? [];
    if (written === undefined) {
      return seen.method === 'POST' ? begin(seen, memory, readVideoAsk(seen)) : list(seen, memory);
    }
    const video = getVideo(memory, decodeURIComponent(written), seen.atMs);
    if (end === '/remix') return remix(seen, memory, video);
    const opened = {
      model: video.model,
      stream: false,
      prompt: '',
      asked: keptName(video.asked, seen.method),
    };
    if (end === '/content') return { ...opened, answer: () => content(seen, video) };
    return {
      ...opened,
      answer: () => (seen.method === 'GET' ? whole(shownVideo(video, seen.atMs)) : remove(memory, video)),
    };
  },

  errorBody: (fault) => JSON.stringify({ error: errorObject(fault, 'invalid_request_error') }),

  errorEvent: ({ message }) => plainFrame('error', { message }),
};

function remix(seen: ReceivedRequest, memory: ProviderMemory, { id, model, seconds, size }: Video): Opened {
  return begin(seen, memory, { model, prompt: readRemixPrompt(seen), seconds, size, remixedFrom: id });
}

/** An edit is as long as its source; an extension is longer by what it adds. */
function startFrom(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const { id, model, prompt, seconds } = readSourceAsk(seen);
  const source = id === null ? null : getVideo(memory, id, seen.atMs);
  const [length, size] = [source?.seconds ?? '8', source?.size ?? '720x1280'];
  const total = seen.path === '/videos/extensions' ? String(Number(length) + Number(seconds)) : length;
  return begin(seen, memory, {
    model: source?.model ?? model,
    prompt,
    seconds: total,
    size,
    remixedFrom: id,
  });
}

/** The job begins with its answer: a request that meets a fault creates none. */
function begin(
  seen: ReceivedRequest,
  memory: ProviderMemory,
  asked: ReturnType<typeof readVideoAsk>,
): Opened {
  return {
    model: asked.model,
    stream: false,
    prompt: asked.prompt,
    answer: () => {
      const named = findDirective(asked.prompt) ?? asked.model;
      const name = parseName(named);
      const video: Video = {
        ...asked,
        asked: named,
        id: `video_${seen.id.slice(4)}`,
        seconds: String(numberParam(name, 'made', Number(asked.seconds))),
        course: jobCourse(name, seen.atMs, usualMs),
        bytes: numberParam(name, 'bytes', usualBytes),
      };
      kept.put(memory, video.id, video);
      const videoSeconds = video.course.end === 'completed' ? Number(video.seconds) : 0;
      return whole(shownVideo(video, seen.atMs), null, { ...freeOfCharge, job: video.id, videoSeconds });
    },
  };
}

function list({ query, atMs }: ReceivedRequest, memory: ProviderMemory): Opened {
  return {
    model: 'echo',
    stream: false,
    prompt: '',
    answer: () => {
      const all = query.get('order') === 'asc' ? [...kept.list(memory)] : [...kept.list(memory)].reverse();
      const after = all.findIndex(({ id }) => id === query.get('after'));
      const rest = all.slice(after + 1);
      const data = rest.slice(0, Number(query.get('limit') ?? 20)).map((video) => shownVideo(video, atMs));
      return whole({ object: 'list', data, has_more: data.length < rest.length });
    },
  };
}

function remove(memory: ProviderMemory, { id }: Video): Answer {
  kept.remove(memory, id);
  return whole({ id, object: 'video.deleted', deleted: true });
}

/** @throws ProviderFault 404 while there is no video yet. */
function content(seen: ReceivedRequest, { course, bytes }: Video): Answer {
  if (standOf(course, seen.atMs).state !== 'completed') {
    throw new ProviderFault(404, 'Video is not ready yet, use GET /v1/videos/{video_id} to check status.');
  }
  const variant = seen.query.get('variant') ?? 'video';
  if (variant === 'video') return fileAnswer(seen, bytes, 'video/mp4');
  if (variant === 'thumbnail') return fileAnswer(seen, 2_000, 'image/webp');
  if (variant === 'spritesheet') return fileAnswer(seen, 20_000, 'image/jpeg');
  throw invalidValue('variant', variant);
}
