import {
  faultIn,
  items,
  link,
  members,
  type Piece,
  picture,
  textOf,
} from '#lib/console/playground/answers/piece';

/** @param place how many finished pictures came before. */
export function imagesEvent(value: unknown, place: number): Piece[] {
  const { type, b64_json: data, output_format: format } = members(value);
  const [, part] = /^image_(?:generation|edit)\.(partial_image|completed)$/.exec(textOf(type)) ?? [];
  return part ? picture(data, format, place, part === 'partial_image') : faultIn(value);
}

export function imagesPieces(value: unknown): Piece[] {
  const { data, output_format: format } = members(value);
  const drawn = items(data).flatMap((one, place) => {
    const { b64_json: base64, url } = members(one);
    return base64 === undefined ? link(url) : picture(base64, format, place);
  });
  return [...faultIn(value), ...drawn];
}

/** The state of a job. */
export interface JobState {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed';
  /** 0 to 100; null: unknown. */
  readonly progress: number | null;
  /** The address to poll. */
  readonly address: string;
  /** The addresses of its results; empty until it is done. */
  readonly results: readonly string[];
  readonly fault: Piece | null;
}

/** A job, from the answer to its creation or to a poll; null: it is none. */
export function readJob(value: unknown): JobState | null {
  const job = members(value);
  const name = textOf(job.name);
  return name === '' ? readVideo(job) : readPrediction(job, name);
}

function readVideo(job: Readonly<Record<string, unknown>>): JobState | null {
  const id = textOf(job.id);
  if (id === '') return null;
  const address = `/v1/videos/${encodeURIComponent(id)}`;
  const state = job.status === 'completed' ? 'done' : job.status === 'failed' ? 'failed' : 'running';
  return {
    id,
    state,
    progress: typeof job.progress === 'number' ? job.progress : null,
    address,
    results: state === 'done' ? [`${address}/content`] : [],
    fault: faultIn(job)[0] ?? null,
  };
}

/** "models/vendor/name/operations/id": the slashes are part of the address. */
function readPrediction(job: Readonly<Record<string, unknown>>, name: string): JobState {
  const { generateVideoResponse } = members(job.response);
  const { generatedSamples, raiMediaFilteredReasons } = members(generateVideoResponse);
  const files = items(generatedSamples).flatMap((sample) => {
    const [, id] = /\/files\/([a-zA-Z0-9]+)/.exec(textOf(members(members(sample).video).uri)) ?? [];
    return id ? [`/v1beta/files/${id}:download?alt=media`] : [];
  });
  const filtered = items(raiMediaFilteredReasons).map(textOf).filter(Boolean).join(' ');
  const [fault] = faultIn(job);
  const empty = job.done === true && files.length === 0;
  return {
    id: name,
    state: job.done !== true ? 'running' : fault || empty ? 'failed' : 'done',
    progress: null,
    address: `/v1beta/${name.split('/').map(encodeURIComponent).join('/')}`,
    results: files,
    fault:
      fault ??
      (empty ? { kind: 'fault', code: null, message: filtered || 'The provider returned no video.' } : null),
  };
}
