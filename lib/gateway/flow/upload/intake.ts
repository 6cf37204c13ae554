import { endedEarly, tooLarge } from '#lib/gateway/flow/upload/body-faults';
import { type BodyPace, Pacer } from '#lib/gateway/flow/upload/pace';
import { type Due, processDeadlines } from '#lib/platform/deadlines';

/** Consumes a chunk of a body. @returns a promise to await before the next chunk; null: none is needed. */
export type TakePiece = (chunk: Uint8Array) => Promise<void> | null;

/**
 * Passes a body to `take`, chunk by chunk, within its size limit and its pace (contract: body/pace). While `take`
 * waits, the source is paused, so that memory contains no more than one chunk and what the connection has read ahead. A
 * lane's own intake reports to it what its source does.
 */
export abstract class Intake implements Due {
  place = -1;
  /** Resolves when `take` has consumed the whole body; rejects with `Refused`, or what `take` rejects with. */
  readonly done: Promise<void>;
  /** Size limit, bytes; checked while the body arrives. */
  limit = Number.POSITIVE_INFINITY;
  take: TakePiece;
  size = 0;
  readonly #pacer: Pacer;
  #resolve: () => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #taking = false;
  #ended = false;
  #over = false;

  constructor(pace: BodyPace, take: TakePiece) {
    this.take = take;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#pacer = new Pacer(pace, processDeadlines.now());
    processDeadlines.watch(this);
  }

  /** No further chunk is to come until `resume`. */
  protected abstract pause(): void;
  protected abstract resume(): void;
  /** The intake is over: nothing of the source matters any more. */
  protected abstract leave(): void;

  get dueMono(): number {
    return this.#pacer.dueMono;
  }

  /** The source has given all of the body. */
  get ended(): boolean {
    return this.#ended;
  }

  expire(nowMono: number): void {
    const refused = this.#pacer.check(nowMono);
    if (refused) this.fail(refused);
  }

  /** Enforces the minimum rate of large bodies from now on. */
  hurry(): void {
    this.#pacer.hurry(processDeadlines.now());
  }

  /** Stops consuming because the call was refused; the caller discards what still arrives. */
  stop(): void {
    if (!this.#over) this.#finish();
  }

  protected data(chunk: Uint8Array): void {
    if (this.#over) return;
    this.#pacer.came(chunk.length, processDeadlines.now());
    this.size += chunk.length;
    if (this.size > this.limit) {
      this.fail(tooLarge(this.limit));
      return;
    }
    const wait = this.take(chunk);
    if (wait) this.#pauseFor(wait);
  }

  /** Whether the next chunk may come now. */
  protected get isOpen(): boolean {
    return !this.#taking && !this.#over;
  }

  /** Pauses the source until `wait` settles; that time does not count against the client. */
  #pauseFor(wait: Promise<void>): void {
    this.#taking = true;
    this.pause();
    this.#pacer.pause(processDeadlines.now());
    wait.then(
      () => {
        this.#taking = false;
        if (this.#over) return;
        if (this.size > this.limit) {
          this.fail(tooLarge(this.limit));
        } else if (this.#ended) {
          this.#finish();
          this.#resolve();
        } else {
          this.#pacer.resume(processDeadlines.now());
          this.resume();
        }
      },
      (error: unknown) => this.fail(error),
    );
  }

  // A paused source can still end while its last chunk is being consumed.
  protected end(): void {
    if (this.#over) return;
    this.#ended = true;
    if (this.#taking) return;
    this.#finish();
    this.#resolve();
  }

  protected closed(): void {
    // `close` follows `end` on every request; creating an error there would be the largest cost of this class.
    if (!this.#over && !this.#ended) this.fail(endedEarly());
  }

  protected fail(error: unknown): void {
    if (this.#over) return;
    this.#finish();
    this.pause();
    this.#reject(error);
  }

  #finish(): void {
    this.#over = true;
    processDeadlines.forget(this);
    this.leave();
  }
}
