/**
 * A store that speaks S3 for tests, in its own process: PUT, GET and DELETE of objects by path, in one bucket. It checks
 * signatures, and answers as AWS does.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { faultOfSignature } from '#tests/support/clouds/signature';
import { type StoreState, storeKeys, works } from '#tests/support/object-store/control';

const objects = new Map<string, Buffer>();
let state: StoreState = works;

interface Given {
  readonly status: number;
  readonly code?: string;
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

function answerTo(request: IncomingMessage, path: string, body: Buffer): Given {
  const fault = faultOfSignature(
    { request, path, body },
    {
      service: 's3',
      nowMs: Date.now(),
      mostMs: 900_000,
      secretOf: (id) => (id === storeKeys.accessKeyId ? { secret: storeKeys.secretAccessKey } : null),
    },
  );
  if (fault?.includes('invalid')) return { status: 403, code: 'InvalidAccessKeyId' };
  if (fault !== null) return { status: 403, code: 'SignatureDoesNotMatch' };
  if (state.refuseWith !== null) return state.refuseWith;
  const [pathname = ''] = path.split('?');
  const [, bucket = '', ...rest] = pathname.split('/');
  const key = decodeURIComponent(rest.join('/'));
  if (bucket !== storeKeys.bucket) return { status: 404, code: 'NoSuchBucket' };
  if (request.method === 'PUT') {
    if (state.full) return { status: 507, code: 'XMinioStorageFull' };
    objects.set(key, body);
    return { status: 200, headers: state.versions ? { 'x-amz-version-id': 'v1' } : {} };
  }
  if (request.method === 'DELETE') {
    objects.delete(key);
    return { status: 204 };
  }
  const found = objects.get(key);
  if (request.method !== 'GET') return { status: 405, code: 'MethodNotAllowed' };
  return found ? { status: 200, body: found } : { status: 404, code: 'NoSuchKey' };
}

const server = createServer((request, response) => {
  void receive(request, response);
});
server.keepAliveTimeout = 30_000;

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const path = request.url ?? '';
  process.send?.({ seen: `${request.method} ${path}` });
  if (state.hangs) return;
  const { status, code, body, headers = {} } = answerTo(request, path, Buffer.concat(chunks));
  // As the real ones do, it quotes what was sent: no message of the gateway may repeat it.
  const words = `<Message>${request.headers.authorization}</Message>`;
  const xml = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code>${words}</Error>`;
  response.writeHead(status, {
    'content-type': code ? 'application/xml' : 'binary/octet-stream',
    ...headers,
  });
  response.end(code ? xml : body);
}

process.on('message', (told: { state?: StoreState; port?: number; list?: number }) => {
  if (told.state) {
    state = told.state;
    process.send?.({ done: 1 });
  }
  if (told.list !== undefined) {
    process.send?.({ objects: [...objects].map(([name, bytes]) => [name, bytes.toString('base64')]) });
  }
  if (told.port !== undefined) {
    server.listen(told.port, '127.0.0.1', () => {
      const address = server.address();
      process.send?.({ port: typeof address === 'object' && address ? address.port : 0 });
    });
  }
});
process.on('disconnect', () => process.exit());
