import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { setCredential } from '#lib/control/operations/provider/credential';
import { closeBalanced, costOf } from '#tests/support/books';
import { operate } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { uploadStart } from '#tests/support/spoken';
import { type OwnStack, startStack } from '#tests/support/stack';
import { record } from '#tools/sandbox/content/tool-call';

const secrets = { default: 'sk-twin-default-0123456789', second: 'sk-twin-second-0123456789' } as const;
type Name = keyof typeof secrets;
const names = ['default', 'second'] as const;
const store = 'https://generativelanguage.googleapis.com/v1beta/files';

/** What reached the provider, in order. */
const arrived: { readonly name: Name | null; readonly what: string }[] = [];

const hourMs = 3_600_000;
/** What the provider says of a context cache: until when it lives; null: it fails as `failure` says. */
let untilMs: number | null = null;
const internal = { code: 500, message: 'Internal error.' };
let failure = internal;

const server = createServer(async (request, response) => {
  const body = await textOf(request);
  const given = request.headers['x-goog-api-key'];
  const name = names.find((one) => secrets[one] === given) ?? null;
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://twin');
  arrived.push({ name, what: `${request.method} ${pathname}` });
  const json = { 'content-type': 'application/json' };
  if (pathname === '/upload/v1beta/files') {
    const upload = searchParams.get('upload_id');
    if (upload === null) {
      const url = `https://elsewhere.example${pathname}?upload_id=${name}`;
      response
        .writeHead(200, body.includes('no address') ? json : { ...json, 'x-goog-upload-url': url })
        .end();
      return;
    }
    const file = { name: `files/of-${upload}`, uri: `${store}/of-${upload}` };
    response.writeHead(200, { ...json, 'x-goog-upload-status': 'final' }).end(JSON.stringify({ file }));
    return;
  }
  if (pathname.startsWith('/v1beta/cachedContents')) {
    if (request.method === 'GET' && untilMs === null) {
      response.writeHead(failure.code, json).end(JSON.stringify({ error: failure }));
      return;
    }
    const id = pathname.split('/')[3] ?? `of-${name}`;
    const paidMs = untilMs ?? Date.now() + hourMs;
    const expireTime = new Date(request.method === 'PATCH' ? paidMs + hourMs : paidMs).toISOString();
    const usageMetadata = { totalTokenCount: 100 };
    const cache = { name: `cachedContents/${id}`, model: 'models/m', expireTime, usageMetadata };
    response.writeHead(200, json).end(JSON.stringify(cache));
    return;
  }
  const answer = pathname.startsWith('/v1beta/models/')
    ? {
        candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
      }
    : { name: pathname.replace('/v1beta/', '') };
  response.writeHead(200, json).end(JSON.stringify(answer));
});

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

describe('what a provider with two accounts keeps (contract: jobs/pinning)', () => {
  let stack: OwnStack;
  let key: string;
  const credential = (more: object) => operate(stack.db, setCredential, { provider: 'twin', ...more });

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    stack = await startStack({ env: { TWIN_KEY: secrets.default, TWIN_KEY_2: secrets.second } });
    const text = `
providers:
  - { id: twin, name: Twin, families: { generate-content: "http://127.0.0.1:${port}/v1beta" },
      credential: { env: TWIN_KEY }, stores: [contentFiles] }
models:
  - { id: twin/m, name: M, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: twin, upstreamModel: m, families: [generate-content], price: { input: "1", output: "4", cacheStorage: "2" } }] }
`;
    await operate(stack.db, applyCatalogue, { files: [{ name: 'twin.yaml', text }] });
    await credential({ name: 'second', env: 'TWIN_KEY_2' });
    const { slug } = await stack.workspace({ rpm: 10_000 });
    key = (await stack.key(slug)).key;
    await stack.announce();
  });
  afterAll(async () => {
    await closeBalanced(stack);
    server.closeAllConnections();
    server.close();
  });

  const start = (displayName: string) =>
    fetch(`${stack.url}/upload/v1beta/files`, {
      method: 'POST',
      headers: { ...uploadStart, 'x-goog-api-key': key, 'x-provider': 'twin' },
      body: JSON.stringify({ file: { displayName } }),
    });
  const ask = (method: string, path: string, body?: object) =>
    fetch(`${stack.url}${path}`, {
      method,
      headers: { 'x-goog-api-key': key },
      ...(body && { body: JSON.stringify(body) }),
    });

  /** Uploads until both accounts have a file. */
  async function uploadToBoth(): Promise<void> {
    const begun = new Set<Name>();
    for (let times = 0; times < 60 && begun.size < 2; times++) {
      const address = (await start('Words')).headers.get('x-goog-upload-url') ?? '';
      const by = arrived.at(-1)?.name;
      expect(address.startsWith(stack.url)).toBe(true);
      const headers = { 'x-goog-upload-command': 'upload, finalize', 'x-goog-upload-offset': '0' };
      const done = await fetch(address, { method: 'POST', headers, body: '123456789' });
      expect(record(record(await done.json()).file).name).toBe(`files/of-${by}`);
      expect(arrived.at(-1)).toEqual({ name: by, what: 'POST /upload/v1beta/files' });
      if (by) begun.add(by);
    }
    expect(begun.size).toBe(2);
  }

  it('files are sent, read and used by the account that has them, also when its credential was withdrawn', async () => {
    await uploadToBoth();
    const readAndUse = async () => {
      for (const name of names) {
        const contents = [{ parts: [{ fileData: { fileUri: `${store}/of-${name}` } }] }];
        expect((await ask('GET', `/v1beta/files/of-${name}`)).status).toBe(200);
        expect(arrived.at(-1)).toEqual({ name, what: `GET /v1beta/files/of-${name}` });
        expect((await ask('POST', '/v1beta/models/twin/m:generateContent', { contents })).status).toBe(200);
        expect(arrived.at(-1)).toEqual({ name, what: 'POST /v1beta/models/m:generateContent' });
      }
    };
    await readAndUse();
    await credential({ name: 'second', withdrawn: true });
    await stack.announce();
    await readAndUse();
  });

  it('files cannot be named together if they are in two accounts', async () => {
    const parts = names.map((name) => ({ fileData: { fileUri: `${store}/of-${name}` } }));
    const answer = await ask('POST', '/v1beta/models/twin/m:generateContent', { contents: [{ parts }] });
    expect(answer.status).toBe(400);
  });

  it('files are not begun, and take no room, if the provider gives no address for the parts', async () => {
    const refused = await start('no address');
    expect(refused.status).toBe(502);
    const id = refused.headers.get('x-request-id');
    await eventually(
      async () => (await stack.db.pool.query('SELECT 1 FROM file_room WHERE call_id = $1', [id])).rowCount,
      0,
    );
  });

  it('context caches are read, changed and used by the account that has them', async () => {
    const contents = [{ parts: [{ text: 'Words to keep' }] }];
    const made = await ask('POST', '/v1beta/cachedContents', { model: 'models/twin/m', contents });
    const { name } = arrived.at(-1) ?? {};
    const cachedContent = String(record(await made.json()).name);
    untilMs = Date.now() + hourMs;
    const path = `/v1beta/${cachedContent}`;
    expect((await ask('GET', path)).status).toBe(200);
    expect(arrived.at(-1)).toEqual({ name, what: `GET ${path}` });
    const changed = await ask('PATCH', path, { ttl: '7200s' });
    expect(arrived.slice(-2)).toEqual([
      { name, what: `GET ${path}` },
      { name, what: `PATCH ${path}` },
    ]);
    // The end moves by an hour at the provider, for 100 tokens.
    const call = await stack.call(changed.headers.get('x-request-id') ?? '');
    expect(call.lines).toMatchObject([{ class: 'cacheStorage', quantity: 100 }]);
    expect(costOf(call)).toBe(100n * 2_000n);
    const used = await ask('POST', '/v1beta/models/twin/m:generateContent', { contents, cachedContent });
    expect([used.status, arrived.at(-1)?.name]).toEqual([200, name]);
  });

  it.each([
    [502, 'upstream_request_failed', internal],
    [502, 'upstream_request_failed', { code: 403, message: 'The caller does not have permission' }],
    [404, 'not_found', { code: 403, message: 'CachedContent not found (or permission denied)' }],
  ])(
    'a context cache is not changed, and costs nothing, if its provider does not say when it ends: %i %s for %j',
    async (status, errorCode, said) => {
      failure = said;
      const contents = [{ parts: [{ text: 'Words to keep' }] }];
      const made = await ask('POST', '/v1beta/cachedContents', { model: 'models/twin/m', contents });
      const path = `/v1beta/${String(record(await made.json()).name)}`;
      untilMs = null;
      const refused = await ask('PATCH', path, { ttl: '7200s' });
      expect(refused.status).toBe(status);
      expect(arrived.at(-1)?.what).toBe(`GET ${path}`);
      const call = await stack.call(refused.headers.get('x-request-id') ?? '');
      expect(call).toMatchObject({ errorCode, cost: '0' });
    },
  );
});
