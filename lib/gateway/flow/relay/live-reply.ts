import { endsEvent } from '#lib/core/relay/break-ending';
import type { HeaderList, Reply } from '#lib/gateway/flow/lane';
import type { Exchange } from '#lib/gateway/upstream/exchange';
import { headerText } from '#lib/gateway/upstream/headers';
import { type Deadlines, type Due, processDeadlines } from '#lib/platform/deadlines';

/** When a silent stream shows a sign of life (contract: routing/sign-of-life). */
export interface SignOfLife {
  /** Silence towards the client before each sign, ms; 0: none is sent. */
  readonly afterMs: number;
  /** Also before a provider's 2xx headers are here. */
  readonly beforeHeaders: boolean;
}

/** What a stream needs to show signs of life. */
export interface Signs extends SignOfLife {
  /** The family's event without any content. */
  readonly frame: string;
  /** Headers of a stream that begins with a sign, before it is known who answers it. */
  readonly headers: HeaderList;
}

/** What copies an answer: its headers, then its pieces. */
interface AnswerSink {
  start(status: number, headers: HeaderList): void;
  write(piece: Uint8Array): void;
}

/** How long until it looks again whether it may send a sign, ms. */
const AGAIN_MS = 500;
const TAIL_BYTES = 4;

/**
 * The reply of a call. While a stream is silent, its client gets signs of life: between two events of the answer, and
 * before it, once a provider has sent the headers of a 2xx. A sign is not part of the answer, so another target can
 * still be tried after it; a call that is refused then ends with its family's error event.
 */
export class LiveReply implements Reply, Due {
  place = -1;
  readonly #inner: Reply;
  readonly #deadlines: Deadlines;
  #signs: Signs | null = null;
  #exchange: Exchange | null = null;
  #dueMono = Number.POSITIVE_INFINITY;
  #opened = false;
  #started = false;
  #blocked = false;
  #copies: readonly AnswerSink[] | null = null;
  #left = false;
  /** The last bytes of the answer, which show whether its last event is finished. */
  #tail: Uint8Array = new Uint8Array();

  constructor(inner: Reply, deadlines: Deadlines = processDeadlines) {
    this.#inner = inner;
    this.#deadlines = deadlines;
  }

  /** Headers have been sent with a sign of life: the status can no longer change. */
  get opened(): boolean {
    return this.#opened;
  }

  get dueMono(): number {
    return this.#dueMono;
  }

  /** Shows signs of life from now on. */
  watch(signs: Signs): void {
    if (signs.afterMs === 0) return;
    this.#signs = signs;
    this.#dueMono = this.#deadlines.now() + signs.afterMs;
    this.#deadlines.watch(this);
  }

  /** From now on, the answer is also copied; signs of life are not. */
  copyTo(copy: AnswerSink): void {
    this.#copies = this.#copies === null ? [copy] : [...this.#copies, copy];
  }

  /** The client has left: what is still written goes only to the copies. */
  leave(): void {
    this.#left = true;
    this.done();
  }

  /** The attempt that is under way now. */
  underway(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  expire(nowMono: number): void {
    const signs = this.#signs;
    if (signs === null) return;
    if (!this.#maySign(signs)) {
      this.#dueMono = nowMono + AGAIN_MS;
      return;
    }
    if (!this.#opened && !this.#started) {
      this.#opened = true;
      this.#inner.start(200, signs.headers);
    }
    this.#blocked = !this.#inner.write(Buffer.from(signs.frame));
    this.#dueMono = nowMono + signs.afterMs;
  }

  start(status: number, headers: HeaderList, reason?: string): void {
    this.#started = true;
    if (this.#copies) for (const copy of this.#copies) copy.start(status, headers);
    if (!this.#opened) this.#inner.start(status, headers, reason);
    if (!isEventStream(headers)) this.done();
  }

  /** The answer has begun; signs of life are not part of it. */
  started(): boolean {
    return this.#started;
  }

  write(chunk: Uint8Array): boolean {
    if (this.#copies) for (const copy of this.#copies) copy.write(chunk);
    if (this.#left) return true;
    if (this.#signs !== null) {
      this.#dueMono = this.#deadlines.now() + this.#signs.afterMs;
      this.#tail =
        chunk.length >= TAIL_BYTES ? chunk : Buffer.concat([this.#tail.subarray(-TAIL_BYTES), chunk]);
    }
    const keepsUp = this.#inner.write(chunk);
    this.#blocked = !keepsUp;
    return keepsUp;
  }

  onDrain(listener: () => void): void {
    this.#inner.onDrain(() => {
      this.#blocked = false;
      listener();
    });
  }

  end(last?: Uint8Array | string): void {
    this.done();
    if (last !== undefined && this.#copies) {
      const piece = Buffer.from(last);
      for (const copy of this.#copies) copy.write(piece);
    }
    this.#inner.end(last);
  }

  cut(): void {
    this.done();
    this.#inner.cut();
  }

  /** No further signs. */
  done(): void {
    this.#signs = null;
    this.#deadlines.forget(this);
  }

  #maySign({ beforeHeaders }: Signs): boolean {
    if (this.#blocked) return false;
    if (this.#started) return endsEvent(this.#tail);
    if (this.#opened || beforeHeaders) return true;
    const { status, headers } = this.#exchange ?? { status: 0, headers: {} };
    return (
      status >= 200 && status < 300 && /^text\/event-stream\b/i.test(headerText(headers, 'content-type'))
    );
  }
}

function isEventStream(headers: HeaderList): boolean {
  const at = headers.findIndex((text, place) => place % 2 === 0 && text === 'content-type');
  return at >= 0 && /^text\/event-stream\b/i.test(headers[at + 1] ?? '');
}
