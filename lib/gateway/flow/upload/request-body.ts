import { type BodyBudget, FREE_BYTES } from '#lib/gateway/flow/body-budget';
import type { BodySource } from '#lib/gateway/flow/lane';
import { tooLarge } from '#lib/gateway/flow/upload/body-faults';
import { BodyMemory } from '#lib/gateway/flow/upload/body-memory';
import type { Intake, TakePiece } from '#lib/gateway/flow/upload/intake';

/** The body of a request: read once, within budget and pace (contract: body/budget, body/pace), or discarded. */
export abstract class RequestBody implements BodySource {
  readonly #budget: BodyBudget;
  readonly #declared: number | null;
  /** The first chunks of a body of unknown length, read to find out whether it is large. */
  #begun: { readonly intake: Intake; readonly chunks: Uint8Array[]; readonly goOn: () => void } | null = null;
  #memory: BodyMemory | null = null;
  #kept: (() => void)[] | null = null;
  #dropped = false;

  /** @param declared the Content-Length; null: unknown. */
  constructor(budget: BodyBudget, declared: number | null) {
    this.#budget = budget;
    this.#declared = declared;
  }

  /** Begins to read; called at most once. */
  protected abstract receive(take: TakePiece): Intake;
  /** Nothing of the body is left to be read. */
  protected abstract isRead(): boolean;

  large(): boolean | Promise<boolean> {
    return this.#declared === null ? this.#begin() : this.#declared > FREE_BYTES;
  }

  read(limit: number, keyId: string): Promise<Uint8Array> {
    const declared = this.#declared;
    if (declared === 0) return Promise.resolve(new Uint8Array());
    if (declared !== null && declared > limit) return Promise.reject(tooLarge(limit));
    const memory = new BodyMemory(this.#budget, keyId, declared ?? limit);
    this.#memory = memory;
    return this.#take(limit, (chunk) => memory.add(chunk)).then(() => memory.whole());
  }

  pour(limit: number, take: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    const declared = this.#declared;
    if (declared === 0) return Promise.resolve();
    if (declared !== null && declared > limit) return Promise.reject(tooLarge(limit));
    return this.#take(limit, take);
  }

  free(): void {
    this.#memory?.release();
    this.#memory = null;
  }

  onRelease(listener: () => void): void {
    this.#kept ??= [];
    this.#kept.push(listener);
  }

  drop(): void {
    this.#begun?.intake.stop();
    this.#dropped = true;
  }

  /** The request was refused and part of its body not read: the connection must be closed after the answer. */
  unread(): boolean {
    return this.#dropped && !this.isRead();
  }

  /** Returns the memory of the body to the budget and calls the `onRelease` listeners. */
  release(): void {
    const kept = this.#kept;
    this.#kept = null;
    if (kept) for (const letGo of kept) letGo();
    this.free();
  }

  /** Reads ahead until the body has ended or exceeds 256 KiB. @returns whether it exceeds that. */
  #begin(): Promise<boolean> {
    const chunks: Uint8Array[] = [];
    const { promise: taken, resolve: goOn } = Promise.withResolvers<void>();
    return new Promise((resolve, reject) => {
      const intake = this.receive((chunk) => {
        chunks.push(chunk);
        if (intake.size <= FREE_BYTES) return null;
        resolve(true);
        return taken;
      });
      intake.done.then(() => resolve(false), reject);
      this.#begun = { intake, chunks, goOn };
    });
  }

  #take(limit: number, take: TakePiece): Promise<void> {
    const begun = this.#begun;
    if (begun === null) {
      const intake = this.receive(take);
      intake.limit = limit;
      if (this.#declared !== null && this.#declared > FREE_BYTES) intake.hurry();
      return intake.done;
    }
    const { intake, chunks, goOn } = begun;
    intake.limit = limit;
    if (intake.size > limit) return Promise.reject(tooLarge(limit));
    intake.take = take;
    if (intake.size > FREE_BYTES) intake.hurry();
    const early = takeAll(chunks.splice(0), take).then(goOn);
    // A client that leaves while the first chunks wait for room ends the wait.
    return Promise.race([early, intake.done])
      .then(() => early)
      .then(() => intake.done);
  }
}

async function takeAll(chunks: readonly Uint8Array[], take: TakePiece): Promise<void> {
  for (const chunk of chunks) await take(chunk);
}

/** @param header a Content-Length. @returns null for what is not a plain number. */
export function lengthIn(header: string): number | null {
  return /^\d{1,15}$/.test(header) ? Number(header) : null;
}
