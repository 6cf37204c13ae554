import type { Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type Decoded, decoderOf, headersDecoded } from '#lib/gateway/upstream/decode';
import { ExchangeTimeout, UnknownStatus } from '#lib/gateway/upstream/exchange-faults';
import type { HeaderBag } from '#lib/gateway/upstream/headers';
import type { Connection, ConnectionUser } from '#lib/gateway/upstream/kept-connection';
import { type Deadlines, type Due, processDeadlines } from '#lib/platform/deadlines';

/** Bytes kept of an answer that is not being read yet; beyond it the provider's socket is paused. */
const KEEP_BYTES = 1024 * 1024;

export interface ExchangeTimes {
  /** Until the first body byte of a 2xx, or the headers of anything else; ms. */
  readonly firstByteMs: number;
  /** Until the answer says something; ms. */
  readonly firstWordMs: number;
  /** From then on, between two pieces that say something; ms. */
  readonly idleMs: number;
  /** Until the whole body is here; ms. */
  readonly totalMs: number;
}

/** Sees the decoded body of a 2xx as it arrives, before anything is kept or relayed. */
export interface ExchangeObserver {
  /** @returns whether this piece says something: others extend no time limit (contract: routing/time-limits). */
  data(chunk: Buffer): boolean;
  /** The answer has ended, well or not. */
  over(): void;
}

export interface ExchangeOptions {
  /** Called once when the exchange has ended, well or not. */
  readonly onOver?: () => void;
  /** false: a file, which goes to the client as it is stored. */
  readonly decodes?: boolean;
  /** Turns an answer of a variant into one of its family; null: it is one. Absent: all are. */
  readonly unwrap?: ((status: number, headers: HeaderBag) => Decoded | null) | undefined;
  /** Makes the observer of a 2xx once its headers are here; null or absent: each byte says something. */
  readonly observe?: (exchange: Exchange) => ExchangeObserver | null;
  readonly deadlines?: Deadlines;
}

export interface ExchangeReader {
  data(chunk: Buffer): void;
  end(): void;
  fail(error: Error): void;
}

/** How much of a body is kept before `read`, and until when. */
export interface Keeping {
  readonly mostBytes: number;
  /** ms; null: without limit. */
  readonly mostMs: number | null;
  readonly until: () => boolean;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly enough: () => boolean;
}

const nothing = Buffer.alloc(0);

/**
 * One request to a provider and its answer. `ready` settles before a byte has gone to the client: with
 * a 2xx only once its first body byte, decoded, (or its end) is here, so that another target can still be
 * tried. What arrives before `read` is kept, at most 1 MiB. A compressed body is passed on decoded.
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
  #waiter: Waiter | null = null;
  #observer: ExchangeObserver | null = null;
  /** The answer has said something. */
  #heard = false;
  /** When the first byte of a 2xx, or the headers of anything else, came; monotonic ms. */
  #readyMono: number | null = null;
  /** For an answer that came compressed although `identity` was requested. */
  #decoder: Transform | null = null;
  /** Why the connection ended while its last bytes were being decoded. */
  #brokenBy: Error | null = null;
  /** When the whole body must be here, and when the next thing must have come. Monotonic ms. */
  readonly #totalMono: number;
  readonly #firstWordMono: number;
  #nextMono: number;
  readonly #times: ExchangeTimes;
  readonly #deadlines: Deadlines;
  readonly #options: ExchangeOptions;

  constructor(times: ExchangeTimes, options: ExchangeOptions = {}) {
    const { deadlines = processDeadlines } = options;
    this.#times = times;
    this.#options = options;
    this.#deadlines = deadlines;
    this.ready = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    const nowMono = deadlines.now();
    this.#nextMono = nowMono + times.firstByteMs;
    this.#firstWordMono = nowMono + times.firstWordMs;
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

  /** When the first byte of a 2xx, or the headers of anything else, came; monotonic ms, null: not yet. */
  get readyMono(): number | null {
    return this.#readyMono;
  }

  /** The whole body has arrived. */
  get ended(): boolean {
    return this.#ended;
  }

  get dueMono(): number {
    return Math.min(this.#nextMono, this.#totalMono);
  }

  expire(nowMono: number): void {
    if (nowMono >= this.#totalMono) this.abort(new ExchangeTimeout('TOTAL_TIMEOUT'));
    else if (this.#settle) this.abort(new ExchangeTimeout('FIRST_BYTE_TIMEOUT'));
    else this.abort(new ExchangeTimeout(this.#heard ? 'IDLE_TIMEOUT' : 'FIRST_WORD_TIMEOUT'));
  }

  /** The first chunk of the body, once `ready` has settled and before `read`; empty: there is none. */
  get opening(): Uint8Array {
    return this.#kept[0] ?? nothing;
  }

  /** Passes the body to a reader: first what was kept, then what arrives. */
  read(reader: ExchangeReader): void {
    this.#reader = reader;
    this.#waiter = null;
    const kept = this.#kept;
    this.#kept = [];
    this.#keptBytes = 0;
    for (const chunk of kept) reader.data(chunk);
    if (this.#failure) reader.fail(this.#failure);
    else if (this.#ended) reader.end();
    else this.resume();
  }

  /** Waits for the whole body of a small answer and keeps it for `read`; at most 1 MiB of it. */
  keepWhole(): Promise<void> {
    return this.keep({ mostBytes: KEEP_BYTES, mostMs: null, until: () => false });
  }

  /** The same; returns what was kept. */
  async peek(): Promise<Uint8Array> {
    await this.keepWhole();
    return Buffer.concat(this.#kept);
  }

  /**
   * Waits, before `read`, until the kept body is enough: `until` says so, it has ended, it has more than `mostBytes`,
   * or `mostMs` are over (null: no such limit). Rejects when the answer breaks off first.
   */
  async keep({ mostBytes, mostMs, until }: Keeping): Promise<void> {
    const enough = () => this.#ended || this.#keptBytes > mostBytes || until();
    if (enough()) return;
    if (this.#failure) throw this.#failure;
    let timer: NodeJS.Timeout | null = null;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#waiter = { resolve, reject, enough };
        if (mostMs !== null) timer = setTimeout(resolve, mostMs);
      });
    } finally {
      this.#waiter = null;
      if (timer !== null) clearTimeout(timer);
    }
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
    if (this.#settle === null) this.#waitForWord();
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
    if (this.#options.decodes !== false) this.#decode(this.#decoderFor(status, headers));
    if (status < 300) {
      this.#observer = this.#options.observe?.(this) ?? null;
      return;
    }
    this.#heard = true;
    this.#waitForWord();
    this.#becomeReady();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#failure) return;
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

  /** Only what says something extends a time limit; compressed bytes count once they are decoded. */
  #take(chunk: Buffer): void {
    const says = this.#observer === null || this.#observer.data(chunk);
    if (says) this.#heard = true;
    if (says || this.#settle !== null) this.#waitForWord();
    if (this.#reader) {
      this.#reader.data(chunk);
      return;
    }
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
    if (this.#settle) this.#becomeReady();
    if (this.#keptBytes > KEEP_BYTES) this.pause();
    if (this.#waiter?.enough()) this.#waiter.resolve();
  }

  #end(): void {
    this.#ended = true;
    this.#over();
    if (this.#settle) this.#becomeReady();
    this.#waiter?.resolve();
    this.#reader?.end();
  }

  #decoderFor(status: number, headers: HeaderBag): Decoded | null {
    const unwrapped = this.#options.unwrap?.(status, headers) ?? null;
    if (unwrapped !== null || headers['content-encoding'] === undefined) return unwrapped;
    const decoder = decoderOf(status, headers);
    return decoder && { decoder, headers: headersDecoded(headers) };
  }

  #decode(decoded: Decoded | null): void {
    if (decoded === null) return;
    const { decoder } = decoded;
    this.#decoder = decoder;
    this.headers = decoded.headers;
    decoder.on('data', (piece: Buffer) => {
      if (this.#failure) return;
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
    this.#readyMono = this.#deadlines.now();
    settle?.resolve();
  }

  #waitForWord(): void {
    this.#nextMono = this.#heard ? this.#deadlines.now() + this.#times.idleMs : this.#firstWordMono;
  }

  /** Suspends the idle limit while the answer is not being read. */
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
    else if (this.#waiter) this.#waiter.reject(error);
    else this.#reader?.fail(error);
  }

  #over(): void {
    this.#closedMono = this.#deadlines.now();
    this.#deadlines.forget(this);
    this.#observer?.over();
    this.#options.onOver?.();
  }
}
