import type { IncomingMessage } from 'node:http';
import { type Due, processDeadlines } from '#lib/deadlines';
import { type Refusal, Refused } from '#lib/errors';
import { type BodyBudget, FREE_BYTES } from '#lib/gateway/body-budget';
import { offUnreadable, onUnreadable } from '#lib/gateway/framing';
import type { BodySource } from '#lib/gateway/lane';
import { endedEarly, stalled, tooLarge } from '#lib/gateway/upload/body-faults';
import { pourNode } from '#lib/gateway/upload/pour-node';

const DROP_BYTES = 1024 * 1024;
const DROP_MS = 1_000;
const LINGER_MS = 250;

export interface NodeBody extends BodySource {
  /** The request is refused and some of its body was not read: the connection must end with the answer. */
  unread(): boolean;
  /** After a refusal: a promise while the unread rest is being dropped; null when nothing is left. */
  finishDrop(): Promise<void> | null;
  /** Gives the memory of the body back to the budget, and whatever else was kept of it. */
  release(): void;
}

/**
 * The body of a node:http request: read once, under the budget, or dropped.
 * @param stallMs how long it may pause (decisions §4).
 */
export function createNodeBody(request: IncomingMessage, budget: BodyBudget, stallMs: number): NodeBody {
  return new RequestBody(request, budget, stallMs);
}

class RequestBody implements NodeBody {
  readonly #request: IncomingMessage;
  readonly #budget: BodyBudget;
  readonly #stallMs: number;
  readonly #declared: number | null;
  #taken = 0;
  #kept: (() => void)[] | null = null;
  #dropped = false;

  constructor(request: IncomingMessage, budget: BodyBudget, stallMs: number) {
    this.#request = request;
    this.#budget = budget;
    this.#stallMs = stallMs;
    this.#declared = declaredLength(request);
  }

  read(limit: number): Promise<Uint8Array> {
    const declared = this.#declared;
    if (declared !== null && declared > limit) return Promise.reject(tooLarge(limit));
    if (declared === 0) return Promise.resolve(new Uint8Array());
    const wait = declared === null ? null : this.#reserve(declared);
    return wait === null ? this.#collect(limit) : wait.then(() => this.#collect(limit));
  }

  async pour(limit: number, take: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    if (this.#declared !== null && this.#declared > limit) throw tooLarge(limit);
    if (this.#declared !== 0) await pourNode(this.#request, limit, this.#stallMs, take);
  }

  onRelease(listener: () => void): void {
    this.#kept ??= [];
    this.#kept.push(listener);
  }

  drop(): void {
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
    if (this.#taken > 0) this.#budget.give(this.#taken);
    this.#taken = 0;
  }

  #reserve(bytes: number): Promise<void> | null {
    const wait = this.#budget.take(bytes);
    this.#taken += bytes;
    return wait;
  }

  #collect(limit: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      // Who left while waiting for the budget says nothing any more: others wait for its share.
      if (this.#request.destroyed) reject(endedEarly());
      else new Collecting(this.#request, limit, this.#stallMs, (size) => this.#room(size), resolve, reject);
    });
  }

  /** Memory for a body whose length nobody told. @returns what to wait for; null: read on. */
  #room(size: number): Promise<void> | null {
    if (this.#declared !== null || size <= Math.max(this.#taken, FREE_BYTES)) return null;
    return this.#reserve(1024 * 1024);
  }
}

/** One body on its way into memory: settles once. */
class Collecting implements Due {
  dueMono: number;
  place = -1;
  readonly #request: IncomingMessage;
  readonly #limit: number;
  readonly #stallMs: number;
  readonly #room: (size: number) => Promise<void> | null;
  readonly #resolve: (body: Uint8Array) => void;
  readonly #reject: (error: Error) => void;
  readonly #unreadable = (refused: Refusal) => this.#fail(new Refused(refused));
  #chunks: Buffer[] = [];
  #size = 0;
  #over = false;

  constructor(
    request: IncomingMessage,
    limit: number,
    stallMs: number,
    room: (size: number) => Promise<void> | null,
    resolve: (body: Uint8Array) => void,
    reject: (error: Error) => void,
  ) {
    this.#request = request;
    this.#limit = limit;
    this.#stallMs = stallMs;
    this.#room = room;
    this.#resolve = resolve;
    this.#reject = reject;
    this.dueMono = processDeadlines.now() + stallMs;
    processDeadlines.watch(this);
    onUnreadable(request.socket, this.#unreadable);
    request.on('data', (chunk: Buffer) => this.#data(chunk));
    request.on('end', () => this.#end());
    request.on('close', () => this.#closed());
  }

  expire(): void {
    this.#fail(stalled(this.#stallMs));
  }

  #data(chunk: Buffer): void {
    if (this.#over) return;
    this.dueMono = processDeadlines.now() + this.#stallMs;
    this.#size += chunk.length;
    if (this.#size > this.#limit) {
      this.#request.pause();
      this.#fail(tooLarge(this.#limit));
      return;
    }
    this.#chunks.push(chunk);
    const wait = this.#room(this.#size);
    if (wait === null) return;
    // The pause is ours, not the client's.
    this.#request.pause();
    this.dueMono = Number.POSITIVE_INFINITY;
    void wait.then(() => {
      if (this.#over) return;
      this.dueMono = processDeadlines.now() + this.#stallMs;
      this.#request.resume();
    });
  }

  #end(): void {
    if (this.#over) return;
    this.#finish();
    const [only] = this.#chunks;
    this.#resolve(this.#chunks.length === 1 && only ? only : Buffer.concat(this.#chunks, this.#size));
  }

  #closed(): void {
    // Every body is closed once it has ended: making an error for it would cost more than all the rest.
    if (!this.#over) this.#fail(endedEarly());
  }

  #fail(error: Error): void {
    if (this.#over) return;
    this.#finish();
    this.#reject(error);
  }

  /** Its listeners stay, deaf: taking them off costs every call more than leaving them. */
  #finish(): void {
    this.#over = true;
    processDeadlines.forget(this);
    offUnreadable(this.#request.socket, this.#unreadable);
  }
}

function dropRest(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let left = DROP_BYTES;
    const timer = setTimeout(resolve, DROP_MS);
    const finish = () => {
      clearTimeout(timer);
      resolve();
    };
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left > 0 || request.isPaused()) return;
      // Closing with bytes unread resets the connection: the client first gets time to read its answer.
      request.pause();
      clearTimeout(timer);
      setTimeout(finish, LINGER_MS);
    });
    request.on('end', finish).on('close', finish).on('error', finish);
    request.resume();
  });
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
