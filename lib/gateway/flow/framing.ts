import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody, type Refusal, reasonPhrase, refusal, shouldRetry, statusOf } from '#lib/core/errors';
import type { Runtime } from '#lib/gateway/flow/runtime';

/** How long a connection that was refused may go on sending before it is cut. */
const LINGER_MS = 2_000;

const refused = new WeakSet<Duplex>();
const reading = Symbol('whose body is being read');

/** A connection that carries the reader of its body: a map beside it would cost every call a look-up. */
type Carrier = Duplex & { [reading]?: Reader | null };
type Reader = (refused: Refusal) => void;

/** Whose body can no longer be read when the framing on this connection breaks. */
export function onUnreadable(socket: Duplex, reader: Reader): void {
  (socket as Carrier)[reading] = reader;
}

/** The reader is done; the next request on the connection may have one of its own by now. */
export function offUnreadable(socket: Duplex, reader: Reader): void {
  if ((socket as Carrier)[reading] === reader) (socket as Carrier)[reading] = null;
}

/**
 * Bytes that Node's parser refuses: answered like every other error, with JSON and an id, then closed
 * (contract: request/malformed-http). Inside a body that is being read, its own call refuses; behind an answer that
 * has begun, nothing may be written.
 */
export function refuseFraming(runtime: Runtime, error: Error & { code?: string }, socket: Duplex): void {
  // What still comes on a refused connection is dropped: a reset would take the answer with it.
  if (refused.has(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  refused.add(socket);
  refuseInTurn(runtime, socket, refusal('invalid_body', sentences[error.code ?? ''] ?? general));
}

/** Requests that had come whole are answered first: what broke stands behind them. */
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

/** Node keeps the answer that a connection carries now on its socket; its own error handler reads it there. */
function answerUnderWay(socket: Duplex): ServerResponse<IncomingMessage> | null {
  return (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}

/** CONNECT asks for a tunnel: 405, and the connection ends. */
export function refuseTunnel(runtime: Runtime, socket: Duplex): void {
  // Node has let go of this socket: without a listener a client that resets it would end the process.
  socket.on('error', () => socket.destroy());
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
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
  HPE_INVALID_EOF_STATE: 'The request ended early; send all of it before you close.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request headers took longer than 15 s; send them at once.',
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
