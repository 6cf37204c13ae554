import type { IncomingMessage } from 'node:http';
import { type Refusal, Refused } from '#lib/core/errors';
import { offUnreadable, onUnreadable } from '#lib/gateway/flow/framing';
import { endedEarly, tooLarge } from '#lib/gateway/flow/upload/body-faults';
import { type BodyPace, Pacer } from '#lib/gateway/flow/upload/pace';
import { type Due, processDeadlines } from '#lib/platform/deadlines';

/** Consumes a chunk of a body. @returns a promise to await before the next chunk; null: none is needed. */
export type TakePiece = (chunk: Uint8Array) => Promise<void> | null;

/**
 * Passes the body of a node:http request to `take`, chunk by chunk. While `take` waits, the request is paused, so that
 * memory holds no more than one chunk and what the socket has read ahead.
 */
export class NodeIntake implements Due {
  place = -1;
  /** Resolves when `take` has consumed the whole body; rejects with `Refused`, or what `take` rejects with. */
  readonly done: Promise<void>;
  /** Size limit, bytes; checked while the body arrives. */
  limit = Number.POSITIVE_INFINITY;
  take: TakePiece;
  size = 0;
  readonly #request: IncomingMessage;
  readonly #pacer: Pacer;
  readonly #unreadable = (refused: Refusal) => this.#fail(new Refused(refused));
  #resolve: () => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #taking = false;
  #ended = false;
  #over = false;

  constructor(request: IncomingMessage, pace: BodyPace, take: TakePiece) {
    this.#request = request;
    this.take = take;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#pacer = new Pacer(pace, processDeadlines.now());
    if (request.destroyed) {
      this.#over = true;
      this.#reject(endedEarly());
      return;
    }
    processDeadlines.watch(this);
    onUnreadable(request.socket, this.#unreadable);
    request.on('data', (chunk: Buffer) => this.#data(chunk));
    request.on('end', () => this.#end());
    request.on('close', () => this.#closed());
  }

  get dueMono(): number {
    return this.#pacer.dueMono;
  }

  expire(nowMono: number): void {
    const refused = this.#pacer.check(nowMono);
    if (refused) this.#fail(refused);
  }

  /** Enforces the minimum rate of large bodies from now on. */
  hurry(): void {
    this.#pacer.hurry(processDeadlines.now());
  }

  /** Stops consuming because the call was refused; the caller discards what still arrives. */
  stop(): void {
    if (!this.#over) this.#finish();
  }

  #data(chunk: Buffer): void {
    if (this.#over) return;
    this.#pacer.came(chunk.length, processDeadlines.now());
    this.size += chunk.length;
    if (this.size > this.limit) {
      this.#fail(tooLarge(this.limit));
      return;
    }
    const wait = this.take(chunk);
    if (wait) this.#pauseFor(wait);
  }

  /** Pauses the request until `wait` settles; that time does not count against the client. */
  #pauseFor(wait: Promise<void>): void {
    this.#taking = true;
    this.#request.pause();
    this.#pacer.pause(processDeadlines.now());
    wait.then(
      () => {
        this.#taking = false;
        if (this.#over) return;
        if (this.size > this.limit) {
          this.#fail(tooLarge(this.limit));
        } else if (this.#ended) {
          this.#finish();
          this.#resolve();
        } else {
          this.#pacer.resume(processDeadlines.now());
          this.#request.resume();
        }
      },
      (error: unknown) => this.#fail(error),
    );
  }

  // A paused request can still emit `end` while its last chunk is being consumed.
  #end(): void {
    if (this.#over) return;
    this.#ended = true;
    if (this.#taking) return;
    this.#finish();
    this.#resolve();
  }

  #closed(): void {
    // `close` follows `end` on every request; creating an error there would be the largest cost of this class.
    if (!this.#over && !this.#ended) this.#fail(endedEarly());
  }

  #fail(error: unknown): void {
    if (this.#over) return;
    this.#finish();
    this.#request.pause();
    this.#reject(error);
  }

  /** Ends the intake. The listeners stay attached and do nothing, because removing them costs more per call. */
  #finish(): void {
    this.#over = true;
    processDeadlines.forget(this);
    offUnreadable(this.#request.socket, this.#unreadable);
  }
}
