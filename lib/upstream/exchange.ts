import type { Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type Deadlines, type Due, processDeadlines } from '#lib/deadlines';
import { decoderOf, headersDecoded } from '#lib/upstream/decode';
import { ExchangeTimeout, UnknownStatus } from '#lib/upstream/exchange-faults';
import type { HeaderBag } from '#lib/upstream/headers';
import type { Connection, ConnectionUser } from '#lib/upstream/kept-connection';

/** Bytes kept of an answer that nobody reads yet; beyond it the provider's socket is paused. */
const KEEP_BYTES = 1024 * 1024;

export interface ExchangeTimes {
  /** Until the first body byte of a 2xx, or the headers of anything else; ms. */
  readonly firstByteMs: number;
  /** Between two pieces of the body; ms. */
  readonly idleMs: number;
  /** Until the whole body is here; ms. */
  readonly totalMs: number;
}

/** Called once when the exchange has ended, well or not. */
export type OnOver = () => void;

export interface ExchangeReader {
  data(chunk: Buffer): void;
  end(): void;
  fail(error: Error): void;
}

const nothing = Buffer.alloc(0);

/**
 * One request to a provider and its answer. `ready` settles before a byte has gone to the client: with
 * a 2xx only once its first body byte, decoded, (or its end) is here, so that another target can still be
 * tried. What arrives before `read` is kept, at most 1 MiB. A body that comes compressed is handed out decoded.
 */
export class Exchange implements Dispatcher.DispatchHandler, ConnectionUser, Due {
  readonly ready: Promise<void>;
  status = 0;
  headers: HeaderBag = {};
  place = -1;
  takeConnection: (() => Connection) | null = null;
  #connection: Connection | null = null;

  /** When the whole request was handed to the kernel, and when the connection ended; monotonic ms, null: not yet. */
  #sentMono: number | null = null;
  #closedMono: number | null = null;
  /** Start of the current pause, and total of earlier ones; monotonic ms and ms. */
  #pausedMono: number | null = null;
  #pausedMs = 0;

  #settle: { resolve: () => void; reject: (error: Error) => void } | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #abortedBefore: Error | null = null;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #ended = false;
  #failure: Error | null = null;
  #reader: ExchangeReader | null = null;
  #peeker: { resolve: () => void; reject: (error: Error) => void } | null = null;
  /** Of an answer that came compressed though `identity` was asked for. */
  #decoder: Transform | null = null;
  /** Why the connection ended while its last bytes were being decoded. */
  #brokenBy: Error | null = null;
  /** When the whole body must be here, and when the next thing must have come. Monotonic ms. */
  readonly #totalMono: number;
  #nextMono: number;
  readonly #times: ExchangeTimes;
  readonly #deadlines: Deadlines;
  readonly #onOver: OnOver;
  readonly #decodes: boolean;

  /** @param decodes false: a file, which goes to the client as it is stored. */
  constructor(
    times: ExchangeTimes,
    onOver: OnOver = () => {},
    decodes = true,
    deadlines: Deadlines = processDeadlines,
  ) {
    this.#times = times;
    this.#decodes = decodes;
    this.#deadlines = deadlines;
    this.#onOver = onOver;
    this.ready = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    const nowMono = deadlines.now();
    this.#nextMono = nowMono + times.firstByteMs;
    this.#totalMono = nowMono + times.totalMs;
    deadlines.watch(this);
  }

  /** The whole request was handed to the kernel: the provider may be working on it. */
  get sentWhole(): boolean {
    return this.#sentMono !== null;
  }

  /** How long the provider could work on it: from the request being sent whole to the end of the connection, ms. */
  get workedMs(): number {
    if (this.#sentMono === null) return 0;
    return (this.#closedMono ?? this.#deadlines.now()) - this.#sentMono;
  }

  /**
   * Whether the provider ended a connection that it had kept, without a byte of an answer to this request, so soon that
   * it can hardly have read it. @param soonMs after the request was sent.
   */
  wasDropped(soonMs: number): boolean {
    const { status, workedMs } = this;
    const connection = this.#connection;
    return connection?.reused === true && status === 0 && workedMs <= soonMs && !connection.heard();
  }

  /** How long the answer had to wait for its reader, ms. */
  get pausedMs(): number {
    const runningMs = this.#pausedMono === null ? 0 : this.#deadlines.now() - this.#pausedMono;
    return this.#pausedMs + runningMs;
  }

  get dueMono(): number {
    return Math.min(this.#nextMono, this.#totalMono);
  }

  expire(nowMono: number): void {
    if (nowMono >= this.#totalMono) this.abort(new ExchangeTimeout('TOTAL_TIMEOUT'));
    else this.abort(new ExchangeTimeout(this.#settle ? 'FIRST_BYTE_TIMEOUT' : 'IDLE_TIMEOUT'));
  }

  /** The first chunk of the body, once `ready` has settled and before `read`; empty: there is none. */
  get opening(): Uint8Array {
    return this.#kept[0] ?? nothing;
  }

  /** Hands the body over: first what was kept, then what comes. */
  read(reader: ExchangeReader): void {
    this.#reader = reader;
    this.#peeker = null;
    const kept = this.#kept;
    this.#kept = [];
    this.#keptBytes = 0;
    for (const chunk of kept) reader.data(chunk);
    if (this.#failure) reader.fail(this.#failure);
    else if (this.#ended) reader.end();
    else this.resume();
  }

  /** Waits for the whole body of a small answer (an error) and keeps it for `read`; at most 1 MiB of it. */
  peek(): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const wait = { resolve: () => resolve(Buffer.concat(this.#kept)), reject };
      if (this.#ended || this.#keptBytes > KEEP_BYTES) wait.resolve();
      else if (this.#failure) reject(this.#failure);
      else this.#peeker = wait;
    });
  }

  pause(): void {
    this.#pausedMono ??= this.#deadlines.now();
    this.#controller?.pause();
    this.#decoder?.pause();
    this.#waitForNothing();
  }

  resume(): void {
    if (this.#ended || this.#failure) return;
    if (this.#pausedMono !== null) {
      this.#pausedMs = this.pausedMs;
      this.#pausedMono = null;
    }
    this.#decoder?.resume();
    if (!this.#decoder?.writableNeedDrain) this.#controller?.resume();
    // Before the first byte, the first-byte limit applies.
    if (this.#settle === null) this.#waitForMore();
  }

  /** Ends the exchange; its reader or `ready` receives `error`. */
  abort(error: Error): void {
    if (this.#ended || this.#failure) return;
    if (this.#controller) this.#controller.abort(error);
    else this.#abortedBefore = error;
    this.#fail(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#connection = this.takeConnection?.() ?? null;
    if (this.#abortedBefore) controller.abort(this.#abortedBefore);
  }

  onRequestSent(): void {
    this.#sentMono = this.#deadlines.now();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: HeaderBag): void {
    if (status < 200) return;
    if (status > 599) {
      this.abort(new UnknownStatus('the status is none of HTTP'));
      return;
    }
    this.status = status;
    this.headers = headers;
    if (this.#decodes && headers['content-encoding'] !== undefined) this.#decode(status, headers);
    if (status < 300) return;
    this.#waitForMore();
    this.#becomeReady();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#failure) return;
    // Before the first decoded byte, compressed bytes do not count as the first byte.
    if (this.#settle === null || this.#decoder === null) this.#waitForMore();
    if (this.#decoder === null) this.#take(chunk);
    else if (!this.#decoder.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#failure) return;
    if (this.#decoder === null) this.#end();
    else this.#endDecoder();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#brokenBy = error;
    if (this.#decoder === null || this.#settle) this.#fail(error);
    else this.#endDecoder();
  }

  #take(chunk: Buffer): void {
    if (this.#reader) {
      this.#reader.data(chunk);
      return;
    }
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
    if (this.#settle) this.#becomeReady();
    if (this.#keptBytes > KEEP_BYTES) {
      this.pause();
      this.#peeker?.resolve();
    }
  }

  #end(): void {
    this.#ended = true;
    this.#over();
    if (this.#settle) this.#becomeReady();
    this.#peeker?.resolve();
    this.#reader?.end();
  }

  #decode(status: number, headers: HeaderBag): void {
    const decoder = decoderOf(status, headers);
    if (decoder === null) return;
    this.#decoder = decoder;
    this.headers = headersDecoded(headers);
    decoder.on('data', (piece: Buffer) => {
      if (this.#failure) return;
      if (this.#settle) this.#waitForMore();
      this.#take(piece);
    });
    decoder.on('drain', () => {
      if (!decoder.isPaused()) this.#controller?.resume();
    });
    decoder.on('end', () => {
      if (this.#failure) return;
      if (this.#brokenBy) this.#fail(this.#brokenBy);
      else this.#end();
    });
    decoder.on('error', (error) => this.abort(this.#brokenBy ?? error));
  }

  /** Decodes what has arrived; no time limit applies, since the reader may be slow. */
  #endDecoder(): void {
    this.#waitForNothing();
    this.#decoder?.end();
  }

  #becomeReady(): void {
    const settle = this.#settle;
    this.#settle = null;
    settle?.resolve();
  }

  #waitForMore(): void {
    this.#nextMono = this.#deadlines.now() + this.#times.idleMs;
  }

  /** Suspends the idle limit while nobody reads. */
  #waitForNothing(): void {
    this.#nextMono = Number.POSITIVE_INFINITY;
  }

  #fail(error: Error): void {
    if (this.#failure || this.#ended) return;
    this.#failure = error;
    this.#over();
    this.#decoder?.destroy();
    const settle = this.#settle;
    this.#settle = null;
    if (settle) settle.reject(error);
    else if (this.#peeker) this.#peeker.reject(error);
    else this.#reader?.fail(error);
  }

  #over(): void {
    this.#closedMono = this.#deadlines.now();
    this.#deadlines.forget(this);
    this.#onOver();
  }
}
