import { IncomingMessage, type ServerResponse } from 'node:http';
import { dropRest } from '#lib/gateway/flow/upload/drop-rest';

/** Largest body of a form, an action or a call of the console's own API, bytes. */
const MOST_BYTES = 1024 * 1024;
/** Time limit for receiving it, ms. */
const LONGEST_MS = 15_000;
/** Limit of the memory of all bodies being received, bytes; a fifth is kept for bodies of up to `SMALL_BYTES`. */
const TOTAL_BYTES = 40 * 1024 * 1024;
const KEPT_FRACTION = 5;
const SMALL_BYTES = 64 * 1024;

/** Why a body is refused. */
interface Fault {
  readonly status: 408 | 413 | 503;
  readonly reason: string;
}

const tooLarge: Fault = {
  status: 413,
  reason: 'The request body is larger than 1 MiB, the limit of the console; send a smaller one.',
};
const tooSlow: Fault = {
  status: 408,
  reason: 'The request body took longer than 15 s to arrive; send it again on a faster connection.',
};
const tooMany: Fault = {
  status: 503,
  reason: 'The console is receiving too many large requests at once; send it again in a few seconds.',
};

/** Passes a request to `serve` once its whole body has arrived, or answers it with a refusal. */
export type BodyGate = (
  request: IncomingMessage,
  response: ServerResponse,
  serve: (request: IncomingMessage) => void,
) => void;

/**
 * Receives the bodies of console requests before Next handles them: at most 1 MiB within 15 s each. Next itself would
 * accept 10 MiB from any client and wait without limit. Next refuses a request whose stream has been read, so `serve`
 * gets a new request object with the same head and the received body.
 * @param newId of the request, for `x-request-id` of a refusal.
 * @param limits for all bodies together, bytes, and for the time of each, ms.
 */
export function createBodyGate(
  newId: () => string,
  { longestMs = LONGEST_MS, mostBytes = TOTAL_BYTES } = {},
): BodyGate {
  const roomOf = (bytes: number) =>
    bytes > SMALL_BYTES ? mostBytes - Math.floor(mostBytes / KEPT_FRACTION) : mostBytes;
  let totalBytes = 0;
  return (request, response, serve) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    if (encoding === undefined && (length === undefined || length === '0')) {
      serve(request);
      return;
    }
    const refuse = (fault: Fault) => answer(request, response, fault, newId());
    if (Number(length ?? 0) > MOST_BYTES) {
      refuse(tooLarge);
      return;
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (then: () => void) => {
      clearTimeout(timer);
      request.removeListener('readable', read).removeListener('close', gone);
      totalBytes -= bytes;
      then();
    };
    const read = () => {
      while (request.readableLength > 0) {
        const chunk: Buffer | null = request.read();
        if (chunk === null) break;
        chunks.push(chunk);
        bytes += chunk.length;
        totalBytes += chunk.length;
      }
      if (bytes > MOST_BYTES) end(() => refuse(tooLarge));
      else if (totalBytes > roomOf(bytes)) end(() => refuse(tooMany));
      else if (request.complete && request.readableLength === 0) {
        request.resume();
        end(() => serve(received(request, Buffer.concat(chunks, bytes))));
      }
    };
    const gone = () => end(() => {});
    const timer = setTimeout(() => end(() => refuse(tooSlow)), longestMs);
    request.on('readable', read).once('close', gone);
  };
}

/** A request object with the same head and the complete body. */
function received(request: IncomingMessage, body: Buffer): IncomingMessage {
  const whole = new IncomingMessage(request.socket);
  whole.method = request.method;
  whole.url = request.url;
  whole.httpVersion = request.httpVersion;
  whole.httpVersionMajor = request.httpVersionMajor;
  whole.httpVersionMinor = request.httpVersionMinor;
  whole.rawHeaders = request.rawHeaders;
  whole.headers = request.headers;
  whole.headersDistinct = request.headersDistinct;
  whole.complete = true;
  if (body.length > 0) whole.push(body);
  whole.push(null);
  return whole;
}

/** Answers with the fault, in JSON under /api/, discards some of the remaining body, and closes the connection. */
function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, reason }: Fault,
  id: string,
): void {
  const isApi = request.url?.startsWith('/api/') === true;
  const text = isApi ? JSON.stringify({ error: { message: reason, code: 'invalid_body' } }) : `${reason}\n`;
  response.writeHead(status, {
    'content-type': isApi ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-request-id': id,
    connection: 'close',
    ...(status === 503 ? { 'retry-after': '5' } : {}),
  });
  response.write(text);
  void dropRest(request).then(() => response.end());
}
