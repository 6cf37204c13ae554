import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '#lib/core/errors';
import type { Operation } from '#lib/core/families/family';
import { operations as all } from '#lib/core/families/index';
import { characterOf } from '#tests/gateway/videos/stage';
import { closeBalanced } from '#tests/support/books';
import { ask, askChat, bearer, jsonOf, whileOneRuns } from '#tests/support/chat-call';
import { disableKey, exhaustKey, setWorkspace } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { expectRefusal } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import { spokenValue, uploadStart } from '#tests/support/spoken';
import type { Stack } from '#tests/support/stack';
import { headerOf, type Wire } from '#tests/support/wire';
import { formOf } from '#tests/unit/multipart/make';
import { record } from '#tools/sandbox/content/tool-call';

interface Client {
  readonly slug: string;
  readonly key: string;
}

/** What stands in the way of a key that would otherwise be served. */
interface Cause {
  readonly name: string;
  readonly code: ErrorCode;
  /** The operations that it stands in the way of (contract: admission/which-steps). */
  readonly bars: readonly Operation['steps'][];
  readonly key?: Parameters<Stack['key']>[1];
  arrange?(stack: Stack, client: Client & { readonly id: string }): Promise<unknown>;
  /** Its workspace is nobody else's: it is changed. */
  readonly apart?: true;
  /** A call of the key runs meanwhile. */
  readonly runs?: true;
}

/** Sessions have their own tests. */
const operations = all.filter(({ socket }) => socket !== true);
const every = ['generate', 'count', 'stored', 'models'] as const;
const spend = async (stack: Stack, { key }: Client) =>
  stack.call((await askChat(stack.url, key, { max_tokens: 5 })).id);

const causes: readonly Cause[] = [
  {
    name: 'a key that is not active',
    code: 'apikey_inactive',
    bars: every,
    arrange: (stack, { id }) => disableKey(stack.db, { id }),
  },
  {
    name: 'the quota flag',
    code: 'quota_exceeded',
    bars: every,
    arrange: (stack, { id }) => exhaustKey(stack.db, { id }),
  },
  {
    name: 'a scope without the model',
    code: 'model_not_allowed',
    bars: ['generate', 'count'],
    key: { models: ['sandbox/slow'] },
  },
  {
    name: 'no funds',
    code: 'insufficient_balance',
    bars: ['generate'],
    apart: true,
    arrange: (stack, { slug }) => setWorkspace(stack.db, { workspace: slug, credit: '0' }),
  },
  {
    name: 'a daily cap that is reached',
    code: 'day_limit_reached',
    bars: ['generate'],
    key: { dailyCap: '0.000001' },
    arrange: spend,
  },
  {
    name: 'requests used up',
    code: 'api_key_rpm_exceeded',
    bars: every,
    key: { rpm: 1 },
    arrange: (stack, { key }) => ask(stack.url, 'GET', '/v1/models', bearer(key)),
  },
  {
    name: 'tokens used up',
    code: 'api_key_tpm_exceeded',
    bars: ['generate'],
    key: { tpm: 1 },
    arrange: spend,
  },
  {
    name: 'a slot that is taken',
    code: 'api_key_concurrency_exceeded',
    bars: ['generate', 'count', 'stored'],
    key: { concurrency: 1 },
    runs: true,
  },
];

const prompt = 'Say [[echo?tokens=5]]';
const fileText = 'Some text';
const film = { model: 'sandbox/film', prompt: 'A sea [[film?job_ms=0]]', seconds: '4', size: '720x1280' };
const picture = { model: 'sandbox/picture', prompt: 'A sea', size: '1024x1024', quality: 'low' };
const contents = [{ role: 'user', parts: [{ text: prompt }] }];
const messages = [{ role: 'user', content: prompt }];

/** A body that each operation serves. */
const bodies: Readonly<Record<string, object>> = {
  'chat.create': { model: 'sandbox/echo', messages },
  'chat.update': { metadata: { told: 'again' } },
  'files.create': { purpose: 'user_data', file: 'Some text' },
  'batches.create': { endpoint: '/v1/chat/completions', completion_window: '24h' },
  'messages.batches.create': {
    requests: [{ custom_id: 'one', params: { model: 'sandbox/echo', max_tokens: 9, messages } }],
  },
  'messages.files.create': { file: 'Some text' },
  'responses.create': { model: 'sandbox/echo', input: prompt },
  'responses.compact': { model: 'sandbox/echo', input: prompt },
  'responses.input_tokens': { model: 'sandbox/echo', input: prompt },
  'conversations.create': { items: [{ role: 'user', content: prompt }] },
  'conversations.update': { metadata: { told: 'again' } },
  'conversations.items.create': { items: [{ role: 'user', content: prompt }] },
  'messages.create': { model: 'sandbox/echo', max_tokens: 9, messages },
  'messages.count_tokens': { model: 'sandbox/echo', messages },
  'images.generate': picture,
  'images.edit': { ...picture, images: [{ image_url: `data:image/png;base64,${'A'.repeat(80)}` }] },
  'completions.create': { model: 'sandbox/completer', prompt },
  'embeddings.create': { model: 'sandbox/vectors', input: prompt },
  'content.embed': { content: contents[0] },
  'content.embed_batch': { requests: [{ model: 'models/sandbox/vectors', content: contents[0] }] },
  'rerank.create': { model: 'sandbox/ranker', query: prompt, documents: ['A sea'] },
  'moderations.create': { model: 'sandbox/moderator', input: prompt },
  'audio.speech': { model: 'sandbox/speaker', input: prompt, voice: 'alloy' },
  'audio.transcription': { model: 'sandbox/scribe', file: 'OggS, and sound' },
  'audio.translation': { model: 'sandbox/scribe', file: 'OggS, and sound' },
  'videos.create': film,
  'videos.remix': { prompt: film.prompt },
  'videos.edit': { prompt: film.prompt },
  'videos.extend': { prompt: film.prompt, seconds: '4' },
  'videos.characters.create': {},
  'content.files.create': { file: { displayName: 'Words' } },
  'content.files.upload': {},
  'content.caches.create': { model: 'models/sandbox/priced-cache', contents },
  'content.caches.update': { ttl: '3600s' },
  'content.generate': { contents },
  'content.stream': { contents },
  'content.count': { contents },
  'content.predictLongRunning': {
    instances: [{ prompt: film.prompt }],
    parameters: { durationSeconds: 4 },
  },
};

/** What `kept` makes of a kind, which families have in their own form. */
function storedAs({ family, name }: Operation, kind: string | undefined): string | undefined {
  if (kind === 'file' && family === 'chat') return 'upload';
  if (name.startsWith('content.files.')) return kind && 'content file';
  return family === 'messages' && kind ? `message ${kind}` : kind;
}

/** The same as a form, whose member `file` is one. */
function formWith(asked: object): [body: string, headers: Record<string, string>] {
  const parts = Object.entries(asked).map(([name, value]) =>
    name === 'file' ? { name, value, filename: 'a.ogg' } : { name, value },
  );
  return [formOf('edge', parts).toString(), { 'content-type': 'multipart/form-data; boundary=edge' }];
}

describe('which steps apply to which operation (contract: admission/which-steps)', () => {
  let stack: Stack;
  let shared: Client;
  beforeAll(async () => {
    stack = await joinStack();
    shared = await newOwner();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  async function newOwner(): Promise<Client> {
    const { slug } = await stack.workspace({ rpm: 10_000 });
    return { slug, key: (await stack.key(slug)).key };
  }

  const post = async (key: string, target: string, body: object) => {
    const answer = await ask(stack.url, 'POST', target, bearer(key), JSON.stringify(body));
    expect(answer.status, answer.body.toString()).toBe(200);
    return jsonOf(answer);
  };

  /** Something that the workspace has at its provider. */
  async function kept(key: string, kind: string): Promise<string> {
    if (kind === 'video') return String((await post(key, '/v1/videos', film)).id);
    if (kind === 'upload') return uploadOf(key);
    if (kind === 'message file') return messageFileOf(key);
    if (kind === 'content file') return contentFileOf(key);
    if (kind === 'cache') {
      const made = await post(key, '/v1beta/cachedContents', bodies['content.caches.create'] ?? {});
      return String(made.name).split('/').at(-1) ?? '';
    }
    if (kind === 'message batch') return messageBatchOf(key);
    if (kind === 'batch') {
      const asked = { ...bodies['batches.create'], input_file_id: await uploadOf(key) };
      return String((await post(key, '/v1/batches', asked)).id);
    }
    if (kind === 'character') return characterOf(stack.url, key);
    if (kind === 'conversation') return String((await post(key, '/v1/conversations', {})).id);
    if (kind === 'completion') {
      const made = await post(key, '/v1/chat/completions', { model: 'sandbox/echo', messages, store: true });
      return String(made.id);
    }
    if (kind === 'response') {
      // One that is done: cancelling it is the provider's to judge.
      const made = await post(key, '/v1/responses', { model: 'sandbox/echo', input: prompt });
      return String(made.id);
    }
    const predict = '/v1beta/models/sandbox/film:predictLongRunning';
    const begun = await post(key, predict, bodies['content.predictLongRunning'] ?? {});
    const id = String(begun.name).split('/').at(-1) ?? '';
    if (kind === 'operation') return id;
    const read = await ask(stack.url, 'GET', `/v1beta/operations/${id}`, bearer(key));
    const [sample] = [record(record(jsonOf(read).response).generateVideoResponse).generatedSamples].flat();
    return /files\/(\w+):/.exec(String(record(record(sample).video).uri))?.[1] ?? '';
  }

  async function messageFileOf(key: string): Promise<string> {
    const [body, headers] = formWith({ file: 'Some text' });
    const sent = { ...headers, ...bearer(key), 'anthropic-version': '2023-06-01' };
    const answer = await ask(stack.url, 'POST', '/v1/files', sent, body);
    expect(answer.status, answer.body.toString()).toBe(200);
    return String(jsonOf(answer).id);
  }

  /** Where the parts of a new upload are sent. */
  async function uploadAddressOf(key: string): Promise<string> {
    const body = JSON.stringify(bodies['content.files.create']);
    const begun = await ask(
      stack.url,
      'POST',
      '/upload/v1beta/files',
      { ...uploadStart, ...bearer(key) },
      body,
    );
    const { pathname, search } = new URL(headerOf(begun, 'x-goog-upload-url') ?? '');
    return `${pathname}${search}`;
  }

  async function contentFileOf(key: string): Promise<string> {
    const headers = { 'x-goog-upload-command': 'upload, finalize', 'x-goog-upload-offset': '0' };
    const answer = await ask(stack.url, 'POST', await uploadAddressOf(key), headers, fileText);
    return (
      String(record(jsonOf(answer).file).name)
        .split('/')
        .at(-1) ?? ''
    );
  }

  /** One that is charged: before that, its results cannot be deleted. */
  async function messageBatchOf(key: string): Promise<string> {
    const { requests } = record(bodies['messages.batches.create']);
    const [request] = [requests].flat();
    const params = { ...record(record(request).params), metadata: { user_id: 'echo?job_ms=0' } };
    const made = await post(key, '/v1/messages/batches', { requests: [{ custom_id: 'one', params }] });
    const read = () => ask(stack.url, 'GET', `/v1/messages/batches/${String(made.id)}`, bearer(key));
    expect(jsonOf(await read())).toMatchObject({ processing_status: 'ended' });
    await eventually(async () => {
      const { rows } = await stack.db.pool.query('SELECT settled_at FROM job WHERE upstream_id = $1', [
        made.id,
      ]);
      return rows[0]?.settled_at !== null;
    }, true);
    return String(made.id);
  }

  /** A file of requests. */
  async function uploadOf(key: string): Promise<string> {
    const line = {
      custom_id: 'one',
      method: 'POST',
      url: '/v1/chat/completions',
      body: bodies['chat.create'],
    };
    const [body, headers] = formWith({ purpose: 'batch', file: JSON.stringify(line) });
    const answer = await ask(stack.url, 'POST', '/v1/files', { ...headers, ...bearer(key) }, body);
    return String(jsonOf(answer).id);
  }

  /** An item of a conversation. */
  async function itemOf(owner: string, conversation: string): Promise<string> {
    const items = bodies['conversations.items.create'] ?? {};
    return String((await post(owner, `/v1/conversations/${conversation}/items`, items)).first_id);
  }

  /** A request of the operation that only a cause of refusal can stop. */
  async function requestOf(
    operation: Operation,
    owner: string,
  ): Promise<[target: string, body: string, headers: Record<string, string>]> {
    const { resource } = operation;
    const kind = storedAs(operation, resource?.kind);
    const id = kind ? await kept(owner, kind) : '';
    const { spokenWith, resumable } = operation;
    const spoken: Record<string, string> = spokenWith ? { [spokenWith]: spokenValue(spokenWith) } : {};
    const films = operation.name.startsWith('content.p') || operation.name === 'content.model_operation';
    const makes = operation.family === 'embed-content' ? 'sandbox/vectors' : 'sandbox/echo';
    const model = films ? 'sandbox/film' : makes;
    const path = operation.path
      .replace(/\{model\+?\}/, model)
      .replace('{item}', operation.within ? await itemOf(owner, id) : '')
      .replace(/\{\w+\}/, id);
    const source = operation.source ? { video: { id: await kept(owner, operation.source.kind) } } : {};
    const file = operation.runsFile ? { [operation.runsFile]: await uploadOf(owner) } : {};
    const asked = { ...bodies[operation.name], ...source, ...file };
    const target = `/${operation.prefixes[0]}/${path}`;
    if (resumable === 'start') return [target, JSON.stringify(asked), uploadStart];
    if (resumable === 'part') {
      return [await uploadAddressOf(owner), fileText, { ...spoken, 'x-goog-upload-offset': '0' }];
    }
    if (operation.multipart === 'only') {
      const [body, headers] = formWith(asked);
      return [target, body, { ...headers, ...spoken }];
    }
    return [target, operation.fields ? JSON.stringify(asked) : '', spoken];
  }

  it('every operation with a body has one in this table', () => {
    const named = operations.filter(({ fields }) => fields).map(({ name }) => name);
    expect(named.filter((name) => bodies[name] === undefined)).toEqual([]);
  });

  describe.concurrent.each(causes)('$name', (cause) => {
    const { code, bars, key: settings = {}, arrange, apart, runs } = cause;
    it.each(
      operations.map((operation) => ({
        ...operation,
        named: `${operation.name} (${operation.prefixes[0]})`,
      })),
    )('and $named', async (operation) => {
      const { slug, key: owner } = apart ? await newOwner() : shared;
      const own = await stack.key(slug, settings);
      const [target, body, headers] = await requestOf(operation, owner);
      // What it made is paid before the workspace has no money.
      await arrange?.(stack, { ...own, slug });
      await stack.announce();
      const send = () => ask(stack.url, operation.method, target, { ...headers, ...bearer(own.key) }, body);
      const answer = runs ? await whileOneRuns(stack, own.key, send) : await send();
      await expectServed(operation, answer, own.key);
    });

    async function expectServed(operation: Operation, answer: Wire, key: string): Promise<void> {
      // A models entry outside the scope is not there.
      const unseen = code === 'model_not_allowed' && operation.name === 'models.read';
      if (unseen) return void expectRefusal(answer, 'not_found', key);
      if (bars.includes(operation.steps)) return void expectRefusal(answer, code, key);
      const id = headerOf(answer, 'x-request-id') ?? '';
      await eventually(async () => (await stack.call(id)).errorCode, null);
      expect(await stack.call(id)).toMatchObject({ operation: operation.name, endReason: 'completed' });
    }
  });
});
