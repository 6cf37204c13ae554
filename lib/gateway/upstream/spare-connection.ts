import type { LookupFunction, Socket } from 'node:net';
import { buildConnector } from 'undici';

/** An origin that got a request this recently has a connection ready for the next one, ms. */
const RECENT_MS = 300_000;
/** A spare connection is replaced at this age, ms: servers close a connection without a request after 20 s and more. */
const OLDEST_MS = 15_000;
/** A provider that closes a spare connection sooner than this wants none, ms. */
const SHORTEST_MS = 5_000;

const waited = new WeakSet<Socket>();

/** Whether a connection was opened ahead: its provider may have closed it without our knowing yet. */
export function wasSpare(socket: Socket): boolean {
  return waited.has(socket);
}

/**
 * Keeps one connection to an origin open ahead of the next request, so that it need not wait for DNS, TCP and TLS
 * (contract: routing/pooled-connections). TLS sessions are resumed.
 */
export class SpareConnection {
  readonly #open: buildConnector.connector;
  #wanted: buildConnector.Options | null = null;
  #spare: Socket | null = null;
  #isOpening = false;
  #usedMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** @param connectMs time limit of a connection, ms. */
  constructor(connectMs: number, lookup?: LookupFunction) {
    this.#open = buildConnector({ timeout: connectMs, allowH2: false, ...(lookup && { lookup }) });
  }

  /** A request is about to be sent to the origin. */
  use(): void {
    this.#usedMs = performance.now();
  }

  /** The connector of the origin's pool: hands over the spare connection if there is one, and opens the next. */
  readonly connector: buildConnector.connector = (wanted, done) => {
    this.#wanted = wanted;
    const spare = this.#take();
    if (spare) queueMicrotask(() => done(null, spare));
    else this.#open(wanted, done);
    this.refill();
  };

  /** Opens a connection if there is none and the origin was used recently. */
  refill(): void {
    if (this.#isClosed || this.#isOpening || this.#spare || this.#wanted === null || !this.#isRecent())
      return;
    this.#isOpening = true;
    this.#open(this.#wanted, (...[error, socket]) => {
      this.#isOpening = false;
      // The next request tries by itself, and learns what is wrong.
      if (error) return;
      if (this.#isClosed) socket.destroy();
      else this.#keep(socket);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #isRecent(): boolean {
    return performance.now() - this.#usedMs < RECENT_MS;
  }

  #keep(socket: Socket): void {
    this.#spare = socket;
    const sinceMs = performance.now();
    // An idle connection must not keep the process alive.
    socket.unref();
    socket.once('close', () => {
      if (this.#spare !== socket) return;
      this.#drop();
      if (performance.now() - sinceMs >= SHORTEST_MS) this.refill();
    });
    this.#timer = setTimeout(() => {
      this.#drop();
      this.refill();
    }, OLDEST_MS);
    this.#timer.unref();
  }

  #take(): Socket | null {
    const socket = this.#spare;
    if (socket === null) return null;
    // A provider that speaks first is about to close it.
    if (socket.destroyed || !socket.writable || socket.readableLength > 0) {
      this.#drop();
      return null;
    }
    this.#spare = null;
    this.#stopTimer();
    socket.ref();
    waited.add(socket);
    return socket;
  }

  #drop(): void {
    const socket = this.#spare;
    this.#spare = null;
    this.#stopTimer();
    socket?.destroy();
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
