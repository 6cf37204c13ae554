import type { IncomingMessage } from 'node:http';
import { type Due, processDeadlines } from '#lib/deadlines';
import { type Refusal, Refused } from '#lib/errors';
import { offUnreadable, onUnreadable } from '#lib/gateway/framing';
import { endedEarly, tooLarge } from '#lib/gateway/upload/body-faults';
import { type BodyPace, Pacer } from '#lib/gateway/upload/pace';

/** Takes a piece of a body. @returns null when the next one may come; else what to wait for. */
export type TakePiece = (chunk: Uint8Array) => Promise<void> | null;

/**
 * A body of a node:http request on its way in: its pieces go to `take`, and while that waits the request
 * is paused, so that memory holds no more than one piece and what the socket has read ahead.
 */
export class NodeIntake implements Due {
  place = -1;
  /** Resolves when all of it was taken. @throws Refused, or what `take` rejects with. */
  readonly done: Promise<void>;
  /** Most bytes that it may have; more is refused while they come. */
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

  /** The body is large: from here on it must keep up the pace that large ones are held to. */
  hurry(): void {
    this.#pacer.hurry(processDeadlines.now());
  }

  /** Takes no more: the call is refused, and what still comes is somebody else's to drop. */
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

  /** The pause is ours, not the client's. */
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

  // A paused request tells its end all the same, while the last piece is still being taken.
  #end(): void {
    if (this.#over) return;
    this.#ended = true;
    if (this.#taking) return;
    this.#finish();
    this.#resolve();
  }

  #closed(): void {
    // Every body is closed once it has ended: making an error for it would cost more than all the rest.
    if (!this.#over && !this.#ended) this.#fail(endedEarly());
  }

  #fail(error: unknown): void {
    if (this.#over) return;
    this.#finish();
    this.#request.pause();
    this.#reject(error);
  }

  /** Its listeners stay, deaf: taking them off costs every call more than leaving them. */
  #finish(): void {
    this.#over = true;
    processDeadlines.forget(this);
    offUnreadable(this.#request.socket, this.#unreadable);
  }
}
