import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ReceivedRequest } from '#tools/sandbox/dialect';

/** Reads a request to its end. @returns `whole: false` if the client left before that. */
export async function readSeen(request: IncomingMessage): Promise<{ seen: ReceivedRequest; whole: boolean }> {
  const atMs = Date.now();
  const parts: Buffer[] = [];
  let whole = true;
  try {
    for await (const part of request) parts.push(part);
  } catch {
    whole = false;
  }
  const url = new URL(request.url ?? '/', 'http://sandbox');
  const headers = Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  const seen: ReceivedRequest = {
    id: `req_${randomBytes(16).toString('hex')}`,
    method: request.method ?? 'GET',
    path: url.pathname.replace(/^\/v1(?:beta|alpha)?(?=\/)/, ''),
    query: url.searchParams,
    headers: Object.fromEntries(headers),
    body: Buffer.concat(parts),
    atMs,
  };
  return { seen, whole };
}
