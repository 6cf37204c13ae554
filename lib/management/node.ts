import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { refusal } from '#lib/errors';
import { Denied } from '#lib/management/answer';
import { type ManagementHost, serveManagement } from '#lib/management/serve';

const mostBytes = 1024 * 1024;
const longestBodyMs = 15_000;
/** How long what a refused client still sends is dropped, so that it gets to read the answer. */
const dropMs = 1_000;

/**
 * The management API on plain `node:http`, in front of Next.
 * @param address where the request came from.
 */
export async function manageOnNode(
  host: ManagementHost,
  request: IncomingMessage,
  response: ServerResponse,
  address: string | null,
): Promise<void> {
  const { status, headers, body } = await serveManagement(host, {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')]),
    ),
    address,
    readBody: () => readAll(request),
  });
  if (request.complete || hasNoBody(request)) {
    response.writeHead(status, headers).end(body);
    return;
  }
  response.writeHead(status, { ...headers, connection: 'close' }).write(body);
  request.resume();
  await Promise.race([new Promise((resolve) => request.once('close', resolve)), pause(dropMs)]);
  response.end();
}

function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** The body as UTF-8 text. @throws Denied (invalid_body) when it is too large, too slow or cut off. */
function readAll(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (fault: string | null) => {
      clearTimeout(timer);
      request.removeAllListeners('data').pause();
      const body = Buffer.concat(chunks);
      const wrong = fault ?? (isUtf8(body) ? null : 'The body is not UTF-8 text; send JSON in UTF-8.');
      if (wrong === null) resolve(body.toString('utf8'));
      else reject(new Denied(refusal('invalid_body', wrong)));
    };
    const timer = setTimeout(() => end('The body took longer than 15 s; send it again.'), longestBodyMs);
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > mostBytes) end('The body is larger than 1 MiB; send less at once.');
      else chunks.push(chunk);
    });
    request.once('end', () => end(null));
    request.once('error', () => end('The body did not arrive whole; send it again.'));
  });
}
