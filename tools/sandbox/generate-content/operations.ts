import { fileAnswer } from '#tools/sandbox/content/film';
import { Collection, type ProviderMemory } from '#tools/sandbox/content/memory';
import { readJson, record } from '#tools/sandbox/content/tool-call';
import { type Answer, freeOfCharge, type Opened, type ReceivedRequest } from '#tools/sandbox/dialect';
import { isGone, type JobCourse, jobCourse, standOf } from '#tools/sandbox/scenario/job';
import { findDirective, keptName, numberParam, parseName } from '#tools/sandbox/scenario/name';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** A long-running prediction as the simulated provider stores it, by its whole name. */
interface Prediction {
  readonly name: string;
  readonly model: string;
  readonly asked: string;
  readonly course: JobCourse;
  /** Ids of what it makes; some of the samples may be filtered out. */
  readonly files: readonly string[];
  readonly filtered: number;
}

interface KeptFile {
  readonly model: string;
  readonly asked: string;
  readonly bytes: number;
}

const predictions = new Collection<Prediction>();
const kept = new Collection<KeptFile>();

const predictPath = /^\/models\/(.+):predictLongRunning$/;
const namePath = /^\/(models\/.+\/operations\/[^/]+)$/;
const filePath = /^(\/download\/v1\w*)?\/files\/([^/]+):download$/;
/** Defaults: how long a job takes, the bytes of a file, the length of a video. */
const usualMs = 1_000;
const usualBytes = 100_000;
const usualSeconds = 8;

/** Whether a request is for predictions, operations or files. */
export function isOfOperations(method: string, path: string): boolean {
  if (method === 'POST') return predictPath.test(path);
  return method === 'GET' && (namePath.test(path) || filePath.test(path));
}

/**
 * Predictions, operations and files as on generativelanguage.googleapis.com. A name's parameters: those of
 * jobs, `bytes=` of a file, `filtered=` how many samples are left out.
 */
export function openOperations(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  if (seen.method === 'POST') return predict(seen, memory);
  const [, moved, id] = filePath.exec(seen.path) ?? [];
  if (id !== undefined) return download(seen, memory, decodeURIComponent(id), moved !== undefined);
  const name = decodeURIComponent(namePath.exec(seen.path)?.[1] ?? '');
  const prediction = predictions.find(memory, name);
  if (prediction === null || isGone(prediction.course, seen.atMs)) {
    throw new ProviderFault(404, `Operation ${name} is not found.`);
  }
  return {
    model: prediction.model,
    stream: false,
    prompt: '',
    asked: keptName(prediction.asked, seen.method),
    answer: () => whole(shown(prediction, seen.atMs)),
  };
}

function predict(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const model = decodeURIComponent(predictPath.exec(seen.path)?.[1] ?? '');
  const body = readJson(seen.body, 'Invalid JSON payload received.');
  const [instance] = [body.instances ?? []].flat().map(record);
  const { prompt } = instance ?? {};
  if (typeof prompt !== 'string') throw new ProviderFault(400, '`instances[0].prompt` is not specified.');
  const { durationSeconds, sampleCount } = record(body.parameters);
  const seconds = Number(durationSeconds ?? usualSeconds);
  const samples = Number(sampleCount ?? 1);
  if (!(seconds >= 4 && seconds <= 8)) {
    throw new ProviderFault(400, 'The number value for `durationSeconds` is out of bound, between 4 and 8.');
  }
  return {
    model,
    stream: false,
    prompt,
    answer: () => {
      const asked = findDirective(prompt) ?? model;
      const name = parseName(asked);
      const id = seen.id.slice(4, 16);
      const filtered = Math.min(samples, numberParam(name, 'filtered', 0));
      const files = Array.from({ length: samples - filtered }, (_, index) => `${id}f${index}`);
      const operation = `models/${model}/operations/${id}`;
      const course = jobCourse(name, seen.atMs, usualMs);
      predictions.put(memory, operation, { name: operation, model, asked, course, files, filtered });
      const bytes = numberParam(name, 'bytes', usualBytes);
      for (const file of files) kept.put(memory, file, { model, asked, bytes });
      const videoSeconds = course.end === 'completed' ? seconds * files.length : 0;
      return { ...whole({ name: operation }), truth: { ...freeOfCharge, job: id, videoSeconds } };
    },
  };
}

function shown({ name, course, files, filtered }: Prediction, nowMs: number): object {
  const { state } = standOf(course, nowMs);
  if (state === 'failed') {
    return { name, done: true, error: { code: 13, message: 'Video generation failed; please try again.' } };
  }
  if (state !== 'completed') return { name };
  const generatedSamples = files.map((id) => ({
    video: { uri: `https://generativelanguage.googleapis.com/v1beta/files/${id}:download?alt=media` },
  }));
  const reasons = Array.from({ length: filtered }, () => 'The video was filtered out by safety settings.');
  return {
    name,
    done: true,
    response: {
      '@type': 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse',
      generateVideoResponse: {
        ...(generatedSamples.length > 0 ? { generatedSamples } : {}),
        ...(filtered > 0 ? { raiMediaFilteredCount: filtered, raiMediaFilteredReasons: reasons } : {}),
      },
    },
  };
}

/** The file is elsewhere on the same host: the client is redirected there first, with its own headers echoed. */
function download(seen: ReceivedRequest, memory: ProviderMemory, id: string, moved: boolean): Opened {
  const file = kept.find(memory, id);
  if (file === null) {
    throw new ProviderFault(403, `You do not have permission to access the File ${id} or it may not exist.`);
  }
  if (seen.query.get('alt') !== 'media') throw new ProviderFault(400, 'A download needs `alt=media`.');
  const opened = { model: file.model, stream: false, prompt: '' };
  if (moved) {
    const asked = keptName(file.asked, seen.method);
    return { ...opened, asked, answer: () => fileAnswer(seen, file.bytes, 'video/mp4') };
  }
  const location = `/download/v1beta/files/${id}:download?${seen.query}`;
  const empty = { kind: 'bytes', bytes: Buffer.alloc(0), type: 'text/html; charset=UTF-8' } as const;
  const headers = { location, 'x-goog-api-key': seen.headers['x-goog-api-key'] ?? '' };
  return {
    ...opened,
    asked: 'echo',
    answer: () => ({ truth: freeOfCharge, status: 302, headers, content: empty }),
  };
}

function whole(body: object): Answer {
  return {
    truth: freeOfCharge,
    content: { kind: 'whole', text: `${JSON.stringify(body, null, 2)}\n`, usage: null },
  };
}
