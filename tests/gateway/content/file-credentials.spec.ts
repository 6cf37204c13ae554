import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { setCredential } from '#lib/control/operations/provider/credential';
import { closeBalanced } from '#tests/support/books';
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

describe('files of generate-content at a provider with two accounts (contract: jobs/pinning)', () => {
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
      offers: [{ provider: twin, upstreamModel: m, families: [generate-content], price: { input: "1", output: "4" } }] }
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

  it('are sent, read and used by the account that has them, also when its credential was withdrawn', async () => {
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

  it('cannot be named together if they are in two accounts', async () => {
    const parts = names.map((name) => ({ fileData: { fileUri: `${store}/of-${name}` } }));
    const answer = await ask('POST', '/v1beta/models/twin/m:generateContent', { contents: [{ parts }] });
    expect(answer.status).toBe(400);
  });

  it('are not begun, and take no room, if the provider gives no address for the parts', async () => {
    const refused = await start('no address');
    expect(refused.status).toBe(502);
    const id = refused.headers.get('x-request-id');
    await eventually(
      async () => (await stack.db.pool.query('SELECT 1 FROM file_room WHERE call_id = $1', [id])).rowCount,
      0,
    );
  });
});
