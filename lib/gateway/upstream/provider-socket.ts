import { createHash, randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import { WebSocket } from 'ws';
import type { HeaderBag } from '#lib/gateway/upstream/headers';

/** Bytes that are kept of the answer of a provider that refuses a handshake. */
const MOST_BODY_BYTES = 64 * 1024;
/** How long a provider may take to answer a close, ms. */
const CLOSE_MS = 2_000;

/** What a WebSocket is asked for with. */
export interface HandshakeRequest {
  /** Path and query. */
  readonly path: string;
  /** Name, value, name, value … */
  readonly headers: readonly string[];
  /** Until the provider has answered, ms. */
  readonly timeoutMs: number;
  /** The longest message that it may send, bytes. */
  readonly maxBytes: number;
}

/** The provider's answer to a handshake. */
export type Handshake =
  | {
      readonly kind: 'open';
      readonly headers: HeaderBag;
      /** Makes the socket, once: what it receives before someone listens would be lost, so it is made for its listener. */
      readonly accept: () => WebSocket;
      /** It is not accepted. */
      readonly drop: () => void;
    }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly headers: HeaderBag;
      readonly body: string;
    };

class LateHandshake extends Error {
  readonly code = 'FIRST_BYTE_TIMEOUT';
}

class WrongHandshake extends Error {
  readonly code = 'UNREADABLE_ANSWER';
}

/**
 * Opens a WebSocket to a provider over a pool, whose proxies, certificates and refused addresses apply to it too
 * (contract: realtime/session).
 * @throws as the pool; when there is no answer in time, or one that is no handshake.
 */
export function openSocket(pool: Dispatcher, request: HandshakeRequest): Promise<Handshake> {
  const key = randomBytes(16).toString('base64');
  const headers = [...request.headers, 'sec-websocket-version', '13', 'sec-websocket-key', key];
  return new Promise((resolve, reject) => {
    const handler = new UpgradeHandler(resolve, reject, { key, maxBytes: request.maxBytes });
    const timer = setTimeout(() => handler.abort(new LateHandshake('no answer in time')), request.timeoutMs);
    handler.onOver = () => clearTimeout(timer);
    pool.dispatch({ method: 'GET', path: request.path, headers, upgrade: 'websocket' }, handler);
  });
}

class UpgradeHandler implements Dispatcher.DispatchHandler {
  readonly #resolve: (handshake: Handshake) => void;
  readonly #reject: (error: Error) => void;
  readonly #expected: { readonly key: string; readonly maxBytes: number };
  #controller: Dispatcher.DispatchController | null = null;
  #aborted: Error | null = null;
  #status = 0;
  #headers: HeaderBag = {};
  #body: Buffer[] = [];
  #bodyBytes = 0;
  onOver: () => void = () => {};

  constructor(
    resolve: (handshake: Handshake) => void,
    reject: (error: Error) => void,
    expected: { readonly key: string; readonly maxBytes: number },
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#expected = expected;
  }

  abort(error: Error): void {
    this.#aborted = error;
    this.#controller?.abort(error);
    this.#over(() => this.#reject(error));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(this.#aborted);
  }

  onRequestUpgrade(_: unknown, status: number, headers: HeaderBag, carrier: Duplex): void {
    const { key, maxBytes } = this.#expected;
    if (this.#aborted || status !== 101 || headers['sec-websocket-accept'] !== acceptOf(key)) {
      carrier.destroy();
      this.#over(() => this.#reject(new WrongHandshake('the handshake is not one of a WebSocket')));
      return;
    }
    carrier.on('error', () => carrier.destroy());
    this.#over(() =>
      this.#resolve({
        kind: 'open',
        headers,
        accept: () => socketOver(carrier, maxBytes),
        drop: () => carrier.destroy(),
      }),
    );
  }

  onResponseStart(_: unknown, status: number, headers: HeaderBag): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes <= MOST_BODY_BYTES) this.#body.push(chunk);
  }

  onResponseEnd(): void {
    const body = Buffer.concat(this.#body).toString('utf8');
    this.#over(() => this.#resolve({ kind: 'refused', status: this.#status, headers: this.#headers, body }));
  }

  onResponseError(_: unknown, error: Error): void {
    this.#over(() => this.#reject(error));
  }

  #over(settle: () => void): void {
    this.onOver();
    settle();
  }
}

function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}

/**
 * The client's side of a WebSocket over a connection whose handshake is done. `ws` makes such an object itself after
 * handshakes of its own, which would know nothing of the pool's proxies; its class has no other way in
 * (decisions: realtime).
 */
function socketOver(carrier: Duplex, maxPayload: number): WebSocket {
  const socket: WebSocket = Reflect.construct(WebSocket, [
    null,
    undefined,
    { autoPong: true, closeTimeout: CLOSE_MS },
  ]);
  Reflect.set(socket, '_isServer', false);
  const take: (this: WebSocket, carrier: Duplex, head: Buffer, options: object) => void = Reflect.get(
    socket,
    'setSocket',
  );
  take.call(socket, carrier, Buffer.alloc(0), {
    allowSynchronousEvents: true,
    maxPayload,
    skipUTF8Validation: false,
  });
  return socket;
}
