import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { isRefusal, type Refusal, refusal, unaccountable } from '#lib/core/errors';
import type { KeySnapshot } from '#lib/core/facts/snapshot';
import { match } from '#lib/core/families/match';
import { checkKey } from '#lib/gateway/admission/pure/decide';
import { admitSocket } from '#lib/gateway/flow/admit-socket';
import { readCredential } from '#lib/gateway/flow/credentials';
import type { Arrival } from '#lib/gateway/flow/lane';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { openSession, releaseSession } from '#lib/gateway/flow/session/open-session';
import { Connection, closing } from '#lib/gateway/sockets/connection';
import { FrameBody } from '#lib/gateway/sockets/frame-body';
import { KeptMemory } from '#lib/gateway/sockets/kept-memory';
import { offeredProtocols, protocolHeaders } from '#lib/gateway/sockets/pure/protocols';
import { RealtimeSession } from '#lib/gateway/sockets/realtime';
import { RefusalReply } from '#lib/gateway/sockets/refusal-reply';
import { ResponsesSession } from '#lib/gateway/sockets/responses';

/** Open connections of one key, and of the process (contract: sockets/handshake). */
const MOST_OF_KEY = 1_000;
const MOST_OF_PROCESS = 10_000;
/** How often connections and their keys are looked at, ms. */
const TICK_MS = 5_000;

const STOPPING = 'The gateway process is stopping; connect again.';

/** One open connection. */
interface Open {
  readonly connection: Connection;
  readonly session: ResponsesSession | RealtimeSession;
  readonly keyId: string;
  readonly secret: string;
}

/** A connection whose handshake is done. */
interface Accepted {
  readonly socket: WebSocket;
  readonly carrier: Socket;
  readonly head: Pick<Arrival, 'target' | 'headers'>;
  readonly keyId: string;
}

/** A handshake that is not decided yet. */
interface Entering {
  /** What came behind it. */
  readonly head: Buffer;
  /** Whose place it has taken and not passed on to an open connection; null: none. */
  keyId: string | null;
}

/** The WebSockets of a process, in the node lane. */
export class SocketServer {
  readonly #runtime: Runtime;
  readonly #server: WebSocketServer;
  readonly #memory = new KeptMemory();
  readonly #open = new Map<Duplex, Open>();
  readonly #mostOfKey: number;
  /** Connections that are open, and handshakes that may become one. */
  readonly #ofKey = new Map<string, number>();
  #ofProcess = 0;
  readonly #ids = new WeakMap<IncomingMessage, string>();
  readonly #protocols = new WeakMap<IncomingMessage, string>();
  #timer: NodeJS.Timeout | null = null;
  #stopping = false;

  /** @param options `mostOfKey`: connections that one key may have. */
  constructor(runtime: Runtime, { mostOfKey = MOST_OF_KEY }: { readonly mostOfKey?: number } = {}) {
    this.#runtime = runtime;
    this.#mostOfKey = mostOfKey;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: runtime.limits.maxBodyBytes,
      handleProtocols: (offered, request) =>
        this.#protocols.get(request) ?? offeredProtocols(offered)[0] ?? false,
    });
    this.#server.on('headers', (headers, request) => {
      const id = this.#ids.get(request);
      if (id !== undefined) headers.push(`x-request-id: ${id}`, `request-id: ${id}`);
    });
  }

  /** Whether a request is a complete handshake for an address that has sockets. */
  takes({ method, url = '', headers }: IncomingMessage): boolean {
    if (method !== 'GET' || !/^websocket$/i.test(headers.upgrade ?? '')) return false;
    if (headers['sec-websocket-version'] !== '13') return false;
    if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')) return false;
    return isRealtime(url) || isResponses(url);
  }

  /** Accepts or refuses the handshake of a request that it `takes`. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Node no longer listens to this socket: without a listener, a client that resets it would end the process.
    socket.on('error', () => socket.destroy());
    if (!(socket instanceof Socket)) {
      socket.destroy();
      return;
    }
    this.#accept(request, socket, head).catch((error) => {
      this.#runtime.report(error, null);
      socket.destroy();
    });
  }

  /** Whether a connection is a WebSocket, which ends by itself. */
  has(socket: Duplex): boolean {
    return this.#open.has(socket);
  }

  /** Closes idle connections, and others behind what runs (contract: sockets/socket-end). */
  stop(): void {
    this.#stopping = true;
    for (const { session } of this.#open.values()) session.end(closing.away, STOPPING);
  }

  /** Cuts what is still open. */
  terminate(): void {
    for (const { connection } of this.#open.values()) connection.terminate();
  }

  /** Its place is taken while the handshake goes on, which may last as long as a provider's. */
  async #accept(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const { url = '' } = request;
    const entering: Entering = { head, keyId: null };
    try {
      await (isRealtime(url)
        ? this.#acceptRealtime(request, socket, entering)
        : this.#acceptResponses(request, socket, entering));
    } finally {
      if (entering.keyId !== null) this.#count(entering.keyId, -1);
    }
  }

  /** A session is open once a provider has accepted it (contract: realtime/handshake). */
  async #acceptRealtime(request: IncomingMessage, socket: Socket, entering: Entering): Promise<void> {
    const runtime = this.#runtime;
    const arrival: Arrival = {
      method: 'GET',
      target: request.url ?? '/',
      headers: protocolHeaders(headersOfCalls(request.headers as Arrival['headers']), request.headers),
      body: new FrameBody(runtime.bodies, Buffer.from('{}')),
      inSession: true,
      onGone: () => {},
    };
    const room = (snapshot: KeySnapshot) => this.#takePlace(snapshot, entering);
    const opened = await openSession(runtime, arrival, new RefusalReply(request, socket), room);
    if (opened === null) return;
    let begun = false;
    this.#ids.set(request, opened.id);
    if (opened.protocol !== null) this.#protocols.set(request, opened.protocol);
    this.#server.handleUpgrade(request, socket, entering.head, (accepted) => {
      begun = true;
      entering.keyId = null;
      let session: RealtimeSession | null = null;
      // First, because it knows how the client closed.
      accepted.on('close', (code, reason) => session?.clientLeft(code, String(reason)));
      accepted.on('ping', (data) => session?.pinged(data));
      // The responses of a session are found by its id.
      const calls = { target: arrival.target, headers: { ...arrival.headers, 'x-request-id': opened.id } };
      this.#begin(
        { socket: accepted, carrier: socket, head: calls, keyId: opened.snapshot.key.id },
        (connection) => {
          session = new RealtimeSession(connection, { runtime, head: calls, opened });
          return session;
        },
      );
    });
    if (begun) return;
    opened.drop();
    releaseSession(runtime, opened);
  }

  async #acceptResponses(request: IncomingMessage, socket: Socket, entering: Entering): Promise<void> {
    const arrival: Arrival = {
      method: 'POST',
      target: request.url ?? '/',
      headers: request.headers as Arrival['headers'],
      body: new FrameBody(this.#runtime.bodies, new Uint8Array()),
      onGone: () => {},
    };
    const reply = new RefusalReply(request, socket);
    const admitted = await admitSocket(this.#runtime, arrival, reply, (snapshot) =>
      this.#takePlace(snapshot, entering),
    );
    if (admitted === null) return;
    this.#ids.set(request, admitted.id);
    const calls = { target: arrival.target, headers: headersOfCalls(arrival.headers) };
    const keyId = admitted.snapshot.key.id;
    this.#server.handleUpgrade(request, socket, entering.head, (opened) => {
      entering.keyId = null;
      this.#begin(
        { socket: opened, carrier: socket, head: calls, keyId },
        (connection) =>
          new ResponsesSession(connection, { runtime: this.#runtime, memory: this.#memory, head: calls }),
      );
    });
  }

  /** @returns why there is none; null: it is taken. */
  #takePlace(snapshot: KeySnapshot, entering: Entering): Refusal | null {
    const full = this.#room(snapshot);
    if (full) return full;
    entering.keyId = snapshot.key.id;
    this.#count(entering.keyId, 1);
    return null;
  }

  #room({ key }: KeySnapshot): Refusal | null {
    if (this.#stopping) return unaccountable('is stopping');
    if (this.#ofProcess >= MOST_OF_PROCESS) return unaccountable('has no room for more WebSockets right now');
    if ((this.#ofKey.get(key.id) ?? 0) < this.#mostOfKey) return null;
    return refusal(
      'api_key_concurrency_exceeded',
      `The API key has ${this.#mostOfKey} open WebSockets; close some, or use another key.`,
    );
  }

  #begin(
    { socket, carrier, head, keyId }: Accepted,
    open: (connection: Connection) => ResponsesSession | RealtimeSession,
  ): void {
    const { bodies, limits, clock } = this.#runtime;
    const connection = new Connection(
      { socket, carrier, keyId, bodies, maxBytes: limits.maxBodyBytes, clock },
      (message, isBinary, done) => session.take(message, isBinary, done),
    );
    const session = open(connection);
    const credential = readCredential({ headers: head.headers, query: queryOf(head.target) });
    const secret = isRefusal(credential) ? '' : credential.secret;
    const kind = session instanceof RealtimeSession ? 'realtime' : 'responses';
    this.#open.set(carrier, { connection, session, keyId, secret });
    this.#runtime.tally.sockets[kind] += 1;
    connection.onGone(() => {
      this.#runtime.tally.sockets[kind] -= 1;
      this.#gone(carrier, keyId);
    });
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    if (this.#stopping) session.end(closing.away, STOPPING);
  }

  #gone(carrier: Socket, keyId: string): void {
    this.#open.delete(carrier);
    this.#count(keyId, -1);
    if (this.#open.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #count(keyId: string, more: 1 | -1): void {
    this.#ofProcess += more;
    const left = (this.#ofKey.get(keyId) ?? 0) + more;
    if (left > 0) this.#ofKey.set(keyId, left);
    else this.#ofKey.delete(keyId);
  }

  #tick(): void {
    const nowMono = this.#runtime.clock.mono();
    for (const open of this.#open.values()) {
      open.session.tick(nowMono);
      this.#checkKey(open).catch((error) => this.#runtime.report(error, null));
    }
  }

  /** A key that is no longer valid ends its connections (contract: sockets/socket-end). */
  async #checkKey({ session, secret }: Open): Promise<void> {
    const snapshot = await this.#runtime.keys?.read(secret);
    if (snapshot === undefined) return;
    const refused = isRefusal(snapshot) ? snapshot : checkKey(snapshot, this.#runtime.clock.now());
    if (refused?.code !== 'invalid_api_key' && refused?.code !== 'apikey_inactive') return;
    session.end(closing.policy, `${refused.code}: ${refused.message}`);
  }
}

function isRealtime(target: string): boolean {
  const matched = match('GET', pathOf(target));
  return 'operation' in matched && matched.operation.socket === true;
}

function isResponses(target: string): boolean {
  const matched = match('POST', pathOf(target));
  return 'operation' in matched && matched.operation.name === 'responses.create';
}

function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? target;
}

function queryOf(target: string): string {
  return target.slice(pathOf(target).length + 1);
}

/** Headers of the connection, which no call has; an idempotency key would make all its calls one. */
const ofConnection =
  /^(connection|upgrade|sec-websocket-.*|content-.*|transfer-encoding|expect|te|keep-alive|idempotency-key)$/;

/** The headers of a handshake as those of a call (contract: sockets/handshake). */
function headersOfCalls(handshake: Arrival['headers']): Arrival['headers'] {
  const headers: Record<string, string | undefined> = { 'content-type': 'application/json' };
  for (const [name, value] of Object.entries(handshake)) {
    if (value === undefined || ofConnection.test(name)) continue;
    if (name !== 'openai-beta') headers[name] = value;
    else {
      const betas = value.split(',').filter((beta) => !/^\s*responses_websockets=/.test(beta));
      if (betas.length > 0) headers[name] = betas.join(',');
    }
  }
  return headers;
}
