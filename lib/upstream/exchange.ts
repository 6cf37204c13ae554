import type { Dispatcher } from 'undici';
import { type Deadlines, type Due, processDeadlines } from '#lib/deadlines';
import type { HeaderBag } from '#lib/upstream/headers';

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

/** A time limit of the exchange ran out; `code` names which. */
class ExchangeTimeout extends Error {
  readonly code: 'FIRST_BYTE_TIMEOUT' | 'IDLE_TIMEOUT' | 'TOTAL_TIMEOUT';
  constructor(code: 'FIRST_BYTE_TIMEOUT' | 'IDLE_TIMEOUT' | 'TOTAL_TIMEOUT') {
    super(code);
    this.code = code;
  }
}

/**
 * One request to a provider and its answer. `ready` settles before a byte has gone to the client: with
 * a 2xx only once its first body byte (or its end) is here, so that another target can still be tried.
 * What arrives before `read` is kept, at most 1 MiB.
 */
export class Exchange implements Dispatcher.DispatchHandler, Due {
  readonly ready: Promise<void>;
  status = 0;
  headers: HeaderBag = {};
  /** The whole request is with the kernel: the provider may be working on it. */
  sentWhole = false;
  place = -1;

  #settle: { resolve: () => void; reject: (error: Error) => void } | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #abortedBefore: Error | null = null;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #ended = false;
  #failure: Error | null = null;
  #reader: ExchangeReader | null = null;
  #peeker: { resolve: () => void; reject: (error: Error) => void } | null = null;
  /** When the whole body must be here, and when the next thing must have come. Monotonic ms. */
  readonly #totalMono: number;
  #nextMono: number;
  readonly #times: ExchangeTimes;
  readonly #deadlines: Deadlines;
  readonly #onOver: OnOver;

  constructor(times: ExchangeTimes, onOver: OnOver = () => {}, deadlines: Deadlines = processDeadlines) {
    this.#times = times;
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

  get dueMono(): number {
    return Math.min(this.#nextMono, this.#totalMono);
  }

  expire(nowMono: number): void {
    if (nowMono >= this.#totalMono) this.abort(new ExchangeTimeout('TOTAL_TIMEOUT'));
    else this.abort(new ExchangeTimeout(this.#settle ? 'FIRST_BYTE_TIMEOUT' : 'IDLE_TIMEOUT'));
  }

  /** Hands the body over: first what was kept, then what comes. */
  read(reader: ExchangeReader): void {
    this.#reader = reader;
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
    this.#controller?.pause();
    this.#waitForNothing();
  }

  resume(): void {
    if (this.#ended || this.#failure) return;
    this.#controller?.resume();
    this.#waitForMore();
  }

  /** Ends the exchange; its reader or `ready` learns of `error`. */
  abort(error: Error): void {
    if (this.#ended || this.#failure) return;
    if (this.#controller) this.#controller.abort(error);
    else this.#abortedBefore = error;
    this.#fail(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#abortedBefore) controller.abort(this.#abortedBefore);
  }

  onRequestSent(): void {
    this.sentWhole = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: HeaderBag): void {
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    if (status >= 300) this.#becomeReady();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#failure) return;
    if (this.#settle) this.#becomeReady();
    else this.#waitForMore();
    if (this.#reader) {
      this.#reader.data(chunk);
      return;
    }
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
    if (this.#keptBytes > KEEP_BYTES) {
      controller.pause();
      this.#waitForNothing();
      this.#peeker?.resolve();
    }
  }

  onResponseEnd(): void {
    if (this.#failure) return;
    this.#ended = true;
    this.#over();
    if (this.#settle) this.#becomeReady();
    this.#peeker?.resolve();
    this.#reader?.end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  #becomeReady(): void {
    const settle = this.#settle;
    this.#settle = null;
    this.#waitForMore();
    settle?.resolve();
  }

  #waitForMore(): void {
    this.#nextMono = this.#deadlines.now() + this.#times.idleMs;
  }

  /** Nobody reads now: the provider is not to blame for what does not come. */
  #waitForNothing(): void {
    this.#nextMono = Number.POSITIVE_INFINITY;
  }

  #fail(error: Error): void {
    if (this.#failure || this.#ended) return;
    this.#failure = error;
    this.#over();
    const settle = this.#settle;
    this.#settle = null;
    if (settle) settle.reject(error);
    else if (this.#peeker) this.#peeker.reject(error);
    else this.#reader?.fail(error);
  }

  #over(): void {
    this.#deadlines.forget(this);
    this.#onOver();
  }
}
