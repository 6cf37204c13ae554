import { characterOf, promptOf } from '#tests/gateway/videos/stage';
import { eventually } from '#tests/support/eventually';
import { uploadStart } from '#tests/support/spoken';
import { record } from '#tools/sandbox/content/tool-call';

/** Who asks, and which gateway. */
export interface Asker {
  readonly url: string;
  readonly key: string;
}

/** What providers keep for one workspace, one of each kind, by the names that its answers showed. */
export interface Possessions {
  readonly response: string;
  readonly item: string;
  readonly completion: string;
  readonly conversation: string;
  readonly video: string;
  readonly character: string;
  /** "models/film/operations/1". */
  readonly operation: string;
  readonly file: string;
  /** A file of requests that was uploaded, a batch of it, and a file with its results. */
  readonly upload: string;
  readonly batch: string;
  readonly results: string;
  /** A file and a context cache of generate-content. */
  readonly contentFile: string;
  readonly cache: string;
}

/** An answer as far as these tests read it. */
export interface Told {
  readonly status: number;
  /** `error.code`, if any. */
  readonly code: unknown;
  readonly body: Readonly<Record<string, unknown>>;
  readonly callId: string;
}

export async function tell(asker: Asker, method: string, path: string, body?: object): Promise<Told> {
  const response = await fetch(`${asker.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${asker.key}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  const told = text.startsWith('{') ? record(JSON.parse(text)) : {};
  const callId = response.headers.get('x-request-id') ?? '';
  return { status: response.status, code: record(told.error).code, body: told, callId };
}

export const respond = (asker: Asker, fields: object = {}) =>
  tell(asker, 'POST', '/v1/responses', { model: 'sandbox/echo', input: 'Say hello', ...fields });

/** Asks for a chat completion. */
export const complete = (asker: Asker, fields: object = {}) =>
  tell(asker, 'POST', '/v1/chat/completions', {
    model: 'sandbox/echo',
    messages: [{ role: 'user', content: 'Say hello' }],
    ...fields,
  });

/** Makes one of each; every job has completed by then. */
export async function make(asker: Asker): Promise<Possessions> {
  const [answered, talked, conversed, filmed, played, predicted, batched, contentFile, cached] =
    await Promise.all([
      respond(asker),
      complete(asker, { store: true }),
      tell(asker, 'POST', '/v1/conversations', { items: [{ role: 'user', content: 'Hello' }] }),
      tell(asker, 'POST', '/v1/videos', { model: 'sandbox/film', prompt: promptOf(), seconds: '4' }),
      characterOf(asker.url, asker.key),
      tell(asker, 'POST', '/v1beta/models/sandbox/film:predictLongRunning', {
        instances: [{ prompt: promptOf() }],
        parameters: { durationSeconds: 4 },
      }),
      runBatch(asker),
      uploadInOnePart(asker),
      tell(asker, 'POST', '/v1beta/cachedContents', {
        model: `models/${cacheModel}`,
        contents: [{ role: 'user', parts: [{ text: 'Words to keep' }] }],
      }),
    ]);
  const operation = String(predicted.body.name);
  let done: Readonly<Record<string, unknown>> = {};
  await eventually(async () => {
    done = (await tell(asker, 'GET', `/v1beta/${operation}`)).body;
    return done.done;
  }, true);
  const [first] = [answered.body.output ?? []].flat();
  return {
    response: String(answered.body.id),
    item: String(record(first).id),
    completion: String(talked.body.id),
    conversation: String(conversed.body.id),
    video: String(filmed.body.id),
    character: played,
    operation,
    file: /files\/(\w+):download/.exec(JSON.stringify(done))?.[1] ?? '',
    ...batched,
    contentFile,
    cache: String(cached.body.name),
  };
}

/** Uploads a file of generate-content. @returns its id. */
async function uploadInOnePart({ url, key }: Asker): Promise<string> {
  const begun = await fetch(`${url}/upload/v1beta/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...uploadStart },
    body: '{}',
  });
  const done = await fetch(begun.headers.get('x-goog-upload-url') ?? '', {
    method: 'POST',
    headers: { 'x-goog-upload-command': 'upload, finalize', 'x-goog-upload-offset': '0' },
    body: 'Some text',
  });
  const { name } = record(record(await done.json()).file);
  return String(name).split('/').at(-1) ?? '';
}

/** Uploads a file of requests and runs it to its end. */
async function runBatch(asker: Asker): Promise<Pick<Possessions, 'upload' | 'batch' | 'results'>> {
  const body = { model: 'sandbox/echo', max_tokens: 8, messages: [{ role: 'user', content: 'Say hello' }] };
  const line = { custom_id: 'one', method: 'POST', url: '/v1/chat/completions', body };
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob([JSON.stringify(line)]), 'requests.jsonl');
  const response = await fetch(`${asker.url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${asker.key}` },
    body: form,
  });
  const upload = String(record(await response.json()).id);
  const { body: made } = await tell(asker, 'POST', '/v1/batches', {
    input_file_id: upload,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata: { sandbox: 'echo?job_ms=0' },
  });
  const batch = String(made.id);
  const { body: seen } = await tell(asker, 'GET', `/v1/batches/${batch}`);
  return { upload, batch, results: String(seen.output_file_id) };
}

const cacheModel = 'sandbox/priced-cache';
const contentStore = 'https://generativelanguage.googleapis.com/v1beta/files';

type Use = readonly [method: string, path: string, body?: object];

/** Every way to name what a provider keeps that leaves it there. */
export function readsOf(kept: Possessions): readonly Use[] {
  const input = (item: object) => [item, { role: 'user', content: 'Go on' }];
  const create = (fields: object): Use => [
    'POST',
    '/v1/responses',
    { model: 'sandbox/echo', input: 'Go on', ...fields },
  ];
  const messages = [{ role: 'user', content: 'Go on' }];
  const talk = (fields: object): Use => [
    'POST',
    '/v1/chat/completions',
    { model: 'sandbox/echo', messages, ...fields },
  ];
  const generate = (parts: readonly object[], fields: object = {}, model = 'sandbox/echo'): Use => [
    'POST',
    `/v1beta/models/${model}:generateContent`,
    { contents: [{ role: 'user', parts: [{ text: 'Go on' }, ...parts] }], ...fields },
  ];
  return [
    ['GET', `/v1/responses/${kept.response}`],
    ['GET', `/v1/responses/${kept.response}/input_items`],
    create({ previous_response_id: kept.response }),
    create({ input: input({ type: 'item_reference', id: kept.item }) }),
    create({ conversation: kept.conversation }),
    create({ conversation: { id: kept.conversation } }),
    [
      'POST',
      '/v1/responses/compact',
      { model: 'sandbox/echo', input: 'Hello', previous_response_id: kept.response },
    ],
    ['GET', `/v1/conversations/${kept.conversation}`],
    ['POST', `/v1/conversations/${kept.conversation}`, { metadata: { told: 'again' } }],
    ['GET', `/v1/conversations/${kept.conversation}/items`],
    [
      'POST',
      `/v1/conversations/${kept.conversation}/items`,
      { items: input({ type: 'item_reference', id: kept.item }) },
    ],
    ['POST', '/v1/conversations', { items: input({ type: 'item_reference', id: kept.item }) }],
    talk({ previous_response_id: kept.response }),
    talk({ extra_body: { container: { id: kept.item } } }),
    ['GET', `/v1/chat/completions/${kept.completion}`],
    ['GET', `/v1/chat/completions/${kept.completion}/messages`],
    ['POST', `/v1/chat/completions/${kept.completion}`, { metadata: { told: 'again' } }],
    ['GET', `/v1/videos/${kept.video}`],
    ['GET', `/v1/videos/${kept.video}/content`],
    ['POST', `/v1/videos/${kept.video}/remix`, { prompt: promptOf() }],
    ['POST', '/v1/videos/edits', { prompt: promptOf(), video: { id: kept.video } }],
    ['POST', '/v1/videos/extensions', { prompt: promptOf(), seconds: '4', video: { id: kept.video } }],
    ['GET', `/v1/videos/characters/${kept.character}`],
    [
      'POST',
      '/v1/videos',
      { model: 'sandbox/film', prompt: promptOf(), characters: [{ id: kept.character }] },
    ],
    ['GET', `/v1beta/${kept.operation}`],
    ['GET', `/v1/operations/${kept.operation.split('/').at(-1)}`],
    ['GET', `/v1beta/files/${kept.file}:download?alt=media`],
    ['GET', `/v1beta/files/${kept.contentFile}`],
    generate([{ fileData: { fileUri: `${contentStore}/${kept.contentFile}` } }]),
    generate([{ file_data: { file_uri: `files/${kept.contentFile}` } }]),
    ['GET', `/v1beta/${kept.cache}`],
    ['PATCH', `/v1beta/${kept.cache}`, { ttl: '3600s' }],
    generate([], { cachedContent: kept.cache }, cacheModel),
    talk({ model: cacheModel, extra_body: { google: { cached_content: kept.cache } } }),
    ['GET', `/v1/files/${kept.upload}`],
    ['GET', `/v1/files/${kept.upload}/content`],
    ['GET', `/v1/files/${kept.results}/content`],
    ['GET', `/v1/batches/${kept.batch}`],
    ['POST', `/v1/batches/${kept.batch}/cancel`],
    [
      'POST',
      '/v1/batches',
      { input_file_id: kept.upload, endpoint: '/v1/chat/completions', completion_window: '24h' },
    ],
    create({ input: [{ role: 'user', content: [{ type: 'input_file', file_id: kept.upload }] }] }),
    create({ tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: [kept.upload] } }] }),
    talk({ messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: kept.upload } }] }] }),
  ];
}

/** Every way to end it. */
export function endsOf(kept: Possessions): readonly Use[] {
  return [
    ['POST', `/v1/responses/${kept.response}/cancel`],
    ['DELETE', `/v1/responses/${kept.response}`],
    ['DELETE', `/v1/chat/completions/${kept.completion}`],
    ['DELETE', `/v1/conversations/${kept.conversation}`],
    ['DELETE', `/v1/videos/${kept.video}`],
    ['DELETE', `/v1/files/${kept.upload}`],
    ['DELETE', `/v1beta/files/${kept.contentFile}`],
    ['DELETE', `/v1beta/${kept.cache}`],
  ];
}

/** What came of each use: "GET /v1/videos/1 200". */
export async function outcomesOf(asker: Asker, uses: readonly Use[]): Promise<readonly string[]> {
  const told = await Promise.all(uses.map(([method, path, body]) => tell(asker, method, path, body)));
  return uses.map(
    ([method, path], index) =>
      `${method} ${path} ${told[index]?.status}${told[index]?.code ? ` ${told[index]?.code}` : ''}`,
  );
}

/** The same outcomes with one ending for all. */
export function allAre(uses: readonly Use[], ending: string): readonly string[] {
  return uses.map(([method, path]) => `${method} ${path} ${ending}`);
}
