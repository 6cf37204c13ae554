import { createParser } from 'eventsource-parser';
import type { CallHead, Refusal } from '#components/playground/run';
import { type JobState, readJob } from '#lib/console/playground/answers/media';
import { type Piece, parsed } from '#lib/console/playground/answers/piece';
import { piecesOfAnswer, piecesOfEvent, refusalIn } from '#lib/console/playground/answers/read';
import type { Attachment, PlaygroundRequest } from '#lib/console/playground/draft';

/** Returns a key for the playground; `fresh`: not the one that was refused. @throws KeyRefused. */
export type GetKey = (fresh: boolean) => Promise<string>;

/** Why there is no key to call with. */
export class KeyRefused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Callbacks for the progress of a call. */
export interface Hearer {
  onHead(head: CallHead): void;
  onFirstByte(): void;
  /** @param pictures how many finished ones there are. */
  onPieces(pieces: (pictures: number) => Piece[]): void;
  onJob(job: JobState): void;
  onFilm(film: Blob): void;
  onSound(sound: Blob): void;
}

/** Codes for a key that was replaced in another tab or has expired: the next one may work. */
const stale = ['invalid_api_key', 'apikey_inactive'];
const firstLookMs = 1_000;
const mostLookMs = 10_000;

/**
 * Makes a call as any client does: with a key, to the gateway's public API.
 * @returns why it was refused; null: it was answered.
 * @throws KeyRefused; AbortError when it was stopped; another Error when the connection broke.
 */
export async function runCall(
  request: PlaygroundRequest,
  getKey: GetKey,
  hear: Hearer,
  signal: AbortSignal,
): Promise<Refusal | null> {
  const first = await send(request, await getKey(false), signal);
  const other = await otherKey(first, getKey);
  const answer = typeof other === 'string' ? await send(request, other, signal) : first;
  hear.onHead(headOf(answer));
  if (!answer.ok) {
    const signedOut = other instanceof KeyRefused && other.refusal.signedOut;
    return { status: answer.status, ...refusalIn(answer.status, await answer.text()), signedOut };
  }
  if (answer.headers.get('content-type')?.startsWith('audio/')) await readSound(answer, hear);
  else if (request.streamed) await readStream(request, answer, hear);
  else await readWhole(request, answer, hear);
  if (request.job) await followJob(getKey, hear, signal, answer);
  return null;
}

async function readSound(answer: Response, hear: Hearer): Promise<void> {
  const sound = await answer.blob();
  hear.onFirstByte();
  hear.onSound(sound);
}

async function readWhole(request: PlaygroundRequest, answer: Response, hear: Hearer): Promise<void> {
  const body = await answer.clone().text();
  hear.onFirstByte();
  hear.onPieces(() => piecesOfAnswer(request.family, body));
}

async function readStream({ family }: PlaygroundRequest, answer: Response, hear: Hearer): Promise<void> {
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') hear.onPieces((pictures) => piecesOfEvent(family, data, pictures));
    },
  });
  const decoder = new TextDecoder();
  const reader = answer.body?.getReader();
  for (let first = true; reader; first = false) {
    const { done, value } = await reader.read();
    if (first) hear.onFirstByte();
    parser.feed(decoder.decode(value, { stream: !done }));
    if (done) return;
  }
}

/** Polls a job until it has ended, then fetches its results. */
async function followJob(
  getKey: GetKey,
  hear: Hearer,
  signal: AbortSignal,
  created: Response,
): Promise<void> {
  let job = readJob(parsed(await created.text()));
  for (let waitMs = firstLookMs; job !== null; waitMs = Math.min(waitMs * 1.5, mostLookMs)) {
    hear.onJob(job);
    const { fault } = job;
    if (fault) hear.onPieces(() => [fault]);
    if (job.state !== 'running') break;
    await sleep(waitMs, signal);
    const look = await get(job.address, getKey, signal);
    const told = await look.text();
    if (!look.ok) throw new Error(refusalIn(look.status, told).message);
    job = readJob(parsed(told)) ?? job;
  }
  for (const address of job?.results ?? []) {
    const film = await get(address, getKey, signal);
    if (!film.ok) throw new Error(refusalIn(film.status, await film.text()).message);
    hear.onFilm(await film.blob());
  }
}

function send(request: PlaygroundRequest, key: string, signal: AbortSignal): Promise<Response> {
  const { path, body, file } = request;
  const json = file ? {} : { 'content-type': 'application/json' };
  return fetch(path, {
    method: 'POST',
    headers: { ...withKey(key), ...json },
    body: file ? formOf(body, file) : JSON.stringify(body),
    credentials: 'omit',
    signal,
  });
}

/** The browser writes the boundary into the Content-Type. */
function formOf(body: PlaygroundRequest['body'], file: Attachment): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, String(value));
  const bytes = Uint8Array.from(atob(file.base64), (byte) => byte.charCodeAt(0));
  form.append('file', new Blob([bytes], { type: file.mediaType }), file.name);
  return form;
}

/** Another key, if the call's key was the problem; null: it was not. KeyRefused says why there is none. */
async function otherKey(first: Response, getKey: GetKey): Promise<string | KeyRefused | null> {
  if (first.status !== 401 && first.status !== 403) return null;
  const { code } = refusalIn(first.status, await first.clone().text());
  if (!stale.includes(code ?? '')) return null;
  return getKey(true).catch((error: unknown) => (error instanceof KeyRefused ? error : null));
}

async function get(address: string, getKey: GetKey, signal: AbortSignal): Promise<Response> {
  const options = async (fresh: boolean) =>
    ({ headers: withKey(await getKey(fresh)), credentials: 'omit', signal }) as const;
  const answer = await fetch(address, await options(false));
  return answer.status === 401 || answer.status === 403 ? fetch(address, await options(true)) : answer;
}

function withKey(key: string) {
  return { authorization: `Bearer ${key}` };
}

function headOf({ status, headers }: Response): CallHead {
  return {
    status,
    requestId: headers.get('x-request-id') ?? '',
    model: headers.get('x-answered-model'),
    provider: headers.get('x-answered-provider'),
    attempts: headers.get('x-attempts'),
  };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}
