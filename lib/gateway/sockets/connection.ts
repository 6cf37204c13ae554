import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { type BodyBudget, type BodyShare, FREE_BYTES } from '#lib/gateway/flow/body-budget';
import type { Clock } from '#lib/platform/clock';

/** How long a message may take to arrive, ms, and how many bytes more it may have for each further second. */
const MESSAGE_MS = 30_000;
const BYTES_PER_SECOND = 64 * 1024;
/** How often a silent connection gets a ping, and after which silence its client is gone; ms. */
const PING_MS = 25_000;
const SILENCE_MS = 80_000;
/** How long a client may take to answer a close, and to read what comes before it; ms. */
const CLOSE_MS = 2_000;
const MOST_CLOSE_MS = 60_000;
/** Bytes that a client may leave unread before nothing more is read of it. */
const MOST_UNREAD_BYTES = 1024 * 1024;
/** A share of the budget grows in steps of this size. */
const STEP_BYTES = 1024 * 1024;
/** The longest reason of a close, bytes. */
const MOST_REASON_BYTES = 123;

/** Codes of RFC 6455 with which the gateway closes. */
export const closing = {
  normal: 1000,
  away: 1001,
  policy: 1008,
  tooBig: 1009,
  fault: 1011,
  retry: 1013,
} as const;

/** What becomes of a message. `done` returns its memory to the budget. */
type TakeMessage = (message: Buffer, isBinary: boolean, done: () => void) => void;

interface ConnectionParts {
  readonly socket: WebSocket;
  /** What carries it. */
  readonly carrier: Duplex & { readonly bytesRead?: number; readonly bytesWritten?: number };
  readonly keyId: string;
  readonly bodies: BodyBudget;
  readonly maxBytes: number;
  readonly clock: Pick<Clock, 'mono'>;
}

/**
 * One WebSocket of a client: memory and pace of its messages, its slow reading, pings, and how it closes
 * (contract: sockets/socket-memory, sockets/pings).
 */
export class Connection {
  readonly #parts: ConnectionParts;
  readonly #drains = new Set<() => void>();
  readonly #goneListeners = new Set<() => void>();
  #share: BodyShare | null = null;
  #grantedBytes = 0;
  /** Bytes of a message that is not complete. */
  #partialBytes = 0;
  #partialMono = 0;
  #heardBytes = 0;
  #heardMono: number;
  #pingedMono: number;
  #paused = 0;
  /** It is not read because it does not read; and bytes that it had taken by the last tick. */
  #isClogged = false;
  #takenBytes = 0;
  #gone = false;

  constructor(parts: ConnectionParts, take: TakeMessage) {
    this.#parts = parts;
    this.#heardMono = parts.clock.mono();
    this.#pingedMono = this.#heardMono;
    const { socket, carrier } = parts;
    carrier.prependListener('data', (chunk: Buffer) => this.#arrived(chunk.length));
    carrier.on('drain', () => {
      if (this.#isClogged) this.resume();
      this.#isClogged = false;
      for (const listener of this.#drains) listener();
    });
    const control = (data: Buffer) => {
      // Its frame counted as part of a message: two bytes, four of the mask, and the data.
      this.#partialBytes = Math.max(0, this.#partialBytes - data.length - 6);
    };
    socket.on('ping', (data: Buffer) => {
      control(data);
      // It was answered.
      this.#pace();
    });
    socket.on('pong', control);
    socket.on('message', (data: RawData, isBinary: boolean) => {
      const share = this.#share;
      this.#share = null;
      this.#grantedBytes = 0;
      this.#partialBytes = 0;
      const message = bytesOf(data);
      share?.received(message.length);
      take(message, isBinary, () => share?.release());
    });
    // A client that breaks the protocol: `ws` closes with the code that says how.
    socket.on('error', () => {});
    socket.on('close', () => this.#left());
    carrier.on('close', () => this.#left());
  }

  get open(): boolean {
    return !this.#gone && this.#parts.socket.readyState === 1;
  }

  /** False when the client is slower than we are: wait for `onDrain`. */
  get keepsUp(): boolean {
    return this.#gone || !this.#parts.carrier.writableNeedDrain;
  }

  send(frame: string | Uint8Array, isBinary = false): void {
    if (!this.open) return;
    this.#parts.socket.send(frame, { binary: isBinary });
    this.#pace();
  }

  /** What answers a client that does not read must not fill the memory (contract: sockets/socket-memory). */
  #pace(): void {
    if (this.#isClogged || this.#parts.socket.bufferedAmount <= MOST_UNREAD_BYTES) return;
    this.#isClogged = true;
    this.pause();
  }

  /** Passes on a ping of a provider. */
  ping(data: Buffer): void {
    if (this.open && this.keepsUp) this.#parts.socket.ping(data);
  }

  /** @returns how it no longer listens. */
  onDrain(listener: () => void): () => void {
    this.#drains.add(listener);
    return () => this.#drains.delete(listener);
  }

  /** Calls back once when the client has left; at once if it has. @returns how it no longer listens. */
  onGone(listener: () => void): () => void {
    if (this.#gone) listener();
    else this.#goneListeners.add(listener);
    return () => this.#goneListeners.delete(listener);
  }

  /** Reads nothing more until as many `resume`s. */
  pause(): void {
    this.#paused += 1;
    this.#parts.socket.pause();
  }

  resume(): void {
    this.#paused -= 1;
    if (this.#paused === 0) this.#parts.socket.resume();
  }

  /** @param reason what the client should do next. */
  close(code: number, reason: string): void {
    const { socket } = this.#parts;
    if (this.#gone) return;
    socket.close(code, shortened(reason));
    // A close is not read while paused.
    socket.resume();
    this.#cutLater(CLOSE_MS);
  }

  /** A client that still reads what was sent before the close gets all of it. */
  #cutLater(sinceMs: number): void {
    const { socket } = this.#parts;
    setTimeout(() => {
      if (socket.bufferedAmount > 0 && sinceMs < MOST_CLOSE_MS) this.#cutLater(sinceMs + CLOSE_MS);
      else socket.terminate();
    }, CLOSE_MS).unref();
  }

  /** Cuts it. */
  terminate(): void {
    this.#parts.socket.terminate();
  }

  /** Called every few seconds: pings, silent clients, messages that never end. */
  tick(nowMono: number): void {
    if (!this.open) return;
    const { socket, carrier } = this.#parts;
    const { bytesRead = 0, bytesWritten = 0 } = carrier;
    const takenBytes = bytesWritten - carrier.writableLength;
    const isWaitedFor = this.#paused > 0 && (!this.#isClogged || takenBytes !== this.#takenBytes);
    this.#takenBytes = takenBytes;
    if (bytesRead !== this.#heardBytes || isWaitedFor) {
      this.#heardBytes = bytesRead;
      this.#heardMono = nowMono;
    }
    const late = MESSAGE_MS + (this.#partialBytes / BYTES_PER_SECOND) * 1000;
    if (this.#partialBytes > 0 && this.#paused === 0 && nowMono - this.#partialMono > late) {
      this.close(closing.policy, 'A message took too long to arrive; send it again without pauses.');
    } else if (nowMono - this.#heardMono >= SILENCE_MS) {
      this.terminate();
    } else if (nowMono - this.#pingedMono >= PING_MS) {
      this.#pingedMono = nowMono;
      socket.ping();
    }
  }

  #arrived(bytes: number): void {
    if (this.#partialBytes === 0) this.#partialMono = this.#parts.clock.mono();
    this.#partialBytes += bytes;
    if (this.#partialBytes <= Math.max(FREE_BYTES, this.#grantedBytes)) return;
    const { bodies, keyId, maxBytes } = this.#parts;
    this.#share ??= bodies.open(keyId, maxBytes);
    this.#grantedBytes = Math.min(maxBytes, this.#partialBytes + STEP_BYTES);
    const waits = this.#share.grow(this.#grantedBytes);
    if (waits === null) return;
    this.pause();
    waits.then(
      () => this.resume(),
      () => {
        this.resume();
        this.close(closing.retry, 'This process has no memory left for large messages; connect again later.');
      },
    );
  }

  #left(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#share?.release();
    this.#share = null;
    for (const listener of [...this.#goneListeners]) listener();
    this.#goneListeners.clear();
    this.#drains.clear();
  }
}

/** A reason that is not cut inside a character, which clients would take for a broken frame. */
function shortened(reason: string): Buffer {
  const bytes = Buffer.from(reason);
  let end = Math.min(bytes.length, MOST_REASON_BYTES);
  while (end < bytes.length && end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
