import type { IncomingMessage } from 'node:http';
import { type BodyBudget, FREE_BYTES } from '#lib/gateway/flow/body-budget';
import type { BodySource } from '#lib/gateway/flow/lane';
import { tooLarge } from '#lib/gateway/flow/upload/body-faults';
import { BodyMemory } from '#lib/gateway/flow/upload/body-memory';
import { dropRest } from '#lib/gateway/flow/upload/drop-rest';
import { NodeIntake } from '#lib/gateway/flow/upload/node-intake';
import type { BodyPace } from '#lib/gateway/flow/upload/pace';

export interface NodeBody extends BodySource {
  /** The request was refused and part of its body not read: the connection must be closed after the answer. */
  unread(): boolean;
  /** After a refusal: a promise while the unread rest is being discarded; null when nothing is left. */
  finishDrop(): Promise<void> | null;
  /** Returns the memory of the body to the budget and calls the `onRelease` listeners. */
  release(): void;
}

/**
 * The body of a node:http request: read once, within budget and pace (contract: body/budget, body/pace), or
 * discarded.
 */
export function createNodeBody(request: IncomingMessage, budget: BodyBudget, pace: BodyPace): NodeBody {
  return new RequestBody(request, budget, pace);
}

class RequestBody implements NodeBody {
  readonly #request: IncomingMessage;
  readonly #budget: BodyBudget;
  readonly #pace: BodyPace;
  readonly #declared: number | null;
  /** The first chunks of a body of unknown length, read to find out whether it is large. */
  #begun: { readonly intake: NodeIntake; readonly chunks: Uint8Array[]; readonly goOn: () => void } | null =
    null;
  #memory: BodyMemory | null = null;
  #kept: (() => void)[] | null = null;
  #dropped = false;

  constructor(request: IncomingMessage, budget: BodyBudget, pace: BodyPace) {
    this.#request = request;
    this.#budget = budget;
    this.#pace = pace;
    this.#declared = declaredLength(request);
  }

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
    const declared = this.#declared;
    this.#dropped =
      !this.#request.readableEnded && (declared === null ? hasBody(this.#request) : declared > 0);
  }

  unread(): boolean {
    return this.#dropped && !this.#request.readableEnded;
  }

  finishDrop(): Promise<void> | null {
    return this.unread() ? dropRest(this.#request) : null;
  }

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
      const intake = new NodeIntake(this.#request, this.#pace, (chunk) => {
        chunks.push(chunk);
        if (intake.size <= FREE_BYTES) return null;
        resolve(true);
        return taken;
      });
      intake.done.then(() => resolve(false), reject);
      this.#begun = { intake, chunks, goOn };
    });
  }

  #take(limit: number, take: (chunk: Uint8Array) => Promise<void> | null): Promise<void> {
    const begun = this.#begun;
    if (begun === null) {
      const intake = new NodeIntake(this.#request, this.#pace, take);
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

async function takeAll(
  chunks: readonly Uint8Array[],
  take: (chunk: Uint8Array) => Promise<void> | null,
): Promise<void> {
  for (const chunk of chunks) await take(chunk);
}

function declaredLength(request: IncomingMessage): number | null {
  const header = request.headers['content-length'];
  if (header === undefined) return hasBody(request) ? null : 0;
  return /^\d{1,15}$/.test(header) ? Number(header) : null;
}

function hasBody(request: IncomingMessage): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined || request.headers['content-length'] !== undefined
  );
}
