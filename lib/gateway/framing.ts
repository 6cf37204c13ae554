import type { Duplex } from 'node:stream';
import { errorBody, type Refusal, refusal, statusOf } from '#lib/errors';
import type { Runtime } from '#lib/gateway/runtime';

/**
 * Bytes that Node's parser refuses before there is a request: answered like every other error, with
 * JSON and an id, then closed (decisions §1, §11).
 */
export function refuseFraming(runtime: Runtime, error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  answer(runtime, socket, refusal('invalid_body', sentences[error.code ?? ''] ?? general));
}

/** CONNECT asks for a tunnel: 405, and the connection ends. */
export function refuseTunnel(runtime: Runtime, socket: Duplex): void {
  answer(
    runtime,
    socket,
    refusal('method_not_allowed', 'CONNECT is not served here; call one of the documented paths.', {
      allow: 'GET, POST',
    }),
  );
}

const general = 'The request is not valid HTTP; send it with a standard HTTP client.';
const sentences: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The request headers are over 32 KiB; send fewer or shorter ones.',
  HPE_INVALID_CONTENT_LENGTH: 'The Content-Length is not a plain number; send the exact length once.',
  HPE_UNEXPECTED_CONTENT_LENGTH:
    'Content-Length and Transfer-Encoding stand together or twice; send one of them, once.',
  HPE_INVALID_TRANSFER_ENCODING:
    'The Transfer-Encoding cannot be read; send "chunked" alone or a Content-Length.',
  HPE_INVALID_METHOD: 'The method is unknown; use GET, POST or DELETE.',
  HPE_INVALID_URL: 'The request target is not a valid path; send an absolute path.',
  HPE_INVALID_CHUNK_SIZE: 'The chunked body is malformed; send it with a standard HTTP client.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request headers took longer than 15 s; send them at once.',
};

function answer(runtime: Runtime, socket: Duplex, refused: Refusal): void {
  const id = runtime.newId() ?? runtime.fallbackId();
  const body = errorBody(refused);
  const status = statusOf(refused);
  const head = [
    `HTTP/1.1 ${status} ${status === 405 ? 'Method Not Allowed' : 'Bad Request'}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
    `request-id: ${id}`,
    'x-should-retry: false',
    ...(refused.allow ? [`allow: ${refused.allow}`] : []),
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
