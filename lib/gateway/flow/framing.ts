import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody, type Refusal, reasonPhrase, refusal, shouldRetry, statusOf } from '#lib/core/errors';
import type { Runtime } from '#lib/gateway/flow/runtime';

/** How long a connection that was refused may go on sending before it is cut. */
const LINGER_MS = 2_000;

const refused = new WeakSet<Duplex>();
const reading = Symbol('whose body is being read');

/** A connection that carries the reader of its body: a separate map would cost every call a look-up. */
type Carrier = Duplex & { [reading]?: Reader | null };
type Reader = (refused: Refusal) => void;

/** Whose body can no longer be read when the framing on this connection breaks. */
export function onUnreadable(socket: Duplex, reader: Reader): void {
  (socket as Carrier)[reading] = reader;
}

/** The reader is done; the next request on the connection may have its own by now. */
export function offUnreadable(socket: Duplex, reader: Reader): void {
  if ((socket as Carrier)[reading] === reader) (socket as Carrier)[reading] = null;
}

/**
 * Bytes that Node's parser refuses: answered like every other error, with JSON and an id, then closed
 * (contract: request/malformed-http). Inside a body that is being read, its own call refuses; after an answer that
 * has begun, nothing may be written.
 */
export function refuseFraming(runtime: Runtime, error: Error & { code?: string }, socket: Duplex): void {
  // Data that still arrives on a refused connection is dropped: a reset would also lose the answer.
  if (refused.has(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  refused.add(socket);
  refuseInTurn(runtime, socket, refusal('invalid_body', sentences[error.code ?? ''] ?? general));
}

/** Requests that arrived completely are answered first: the broken one comes after them. */
function refuseInTurn(runtime: Runtime, socket: Duplex, said: Refusal): void {
  const running = answerUnderWay(socket);
  if (running?.req.complete) {
    running.once('close', () => setImmediate(() => refuseInTurn(runtime, socket, said)));
    return;
  }
  if (running?.headersSent) {
    socket.destroy();
    return;
  }
  const reader = (socket as Carrier)[reading];
  if (reader) reader(said);
  else if (socket.writable) answer(runtime, socket, said);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Node stores the current answer of a connection on its socket; its own error handler reads it there. */
function answerUnderWay(socket: Duplex): ServerResponse<IncomingMessage> | null {
  return (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}

/** CONNECT asks for a tunnel: 405, and the connection ends. */
export function refuseTunnel(runtime: Runtime, socket: Duplex): void {
  // Node no longer listens to this socket: without a listener, a client that resets it would end the process.
  socket.on('error', () => socket.destroy());
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  answer(
    runtime,
    socket,
    refusal('method_not_allowed', 'CONNECT is not supported; call one of the documented paths.', {
      allow: 'GET, POST',
    }),
  );
}

const general = 'The request is not valid HTTP; send it with a standard HTTP client.';
const sentences: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The request headers are larger than 32 KiB; send fewer or shorter ones.',
  HPE_INVALID_CONTENT_LENGTH: 'The Content-Length is not a plain number; send the exact length once.',
  HPE_UNEXPECTED_CONTENT_LENGTH:
    'The request has both Content-Length and Transfer-Encoding, or one of them twice; send one of them, once.',
  HPE_INVALID_TRANSFER_ENCODING:
    'The Transfer-Encoding is not supported; send only "chunked", or a Content-Length.',
  HPE_INVALID_METHOD: 'The method is unknown; use GET, POST or DELETE.',
  HPE_INVALID_URL: 'The request target is not a valid path; send an absolute path.',
  HPE_INVALID_CHUNK_SIZE: 'The chunked body is malformed; send it with a standard HTTP client.',
  HPE_INVALID_EOF_STATE: 'The request ended early; send all of it before you close the connection.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request headers took longer than 15 s to arrive; send them at once.',
};

function answer(runtime: Runtime, socket: Duplex, refused: Refusal): void {
  const id = runtime.newId() ?? runtime.fallbackId();
  const body = errorBody(refused);
  const status = statusOf(refused);
  const retry = shouldRetry(refused);
  const head = [
    `HTTP/1.1 ${status} ${reasonPhrase(refused)}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
    `request-id: ${id}`,
    ...(retry === null ? [] : [`x-should-retry: ${retry}`]),
    ...(refused.allow ? [`allow: ${refused.allow}`] : []),
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
