import { type BodyBudget, FREE_BYTES } from '#lib/gateway/flow/body-budget';
import type { BodySource } from '#lib/gateway/flow/lane';
import { endedEarly, tooLarge } from '#lib/gateway/flow/upload/body-faults';
import { BodyMemory } from '#lib/gateway/flow/upload/body-memory';
import { type BodyPace, Pacer } from '#lib/gateway/flow/upload/pace';

export interface WebBody extends BodySource {
  /** The request was refused and its body not read to the end. */
  unread(): boolean;
  /** Returns the memory of the body to the budget and calls the `onRelease` listeners. */
  release(): void;
}

/** The body of a web request; the host discards what stays unread. */
export function createWebBody(request: Request, budget: BodyBudget, pace: BodyPace): WebBody {
  return new RequestBody(request, budget, pace);
}

class RequestBody implements WebBody {
  readonly #budget: BodyBudget;
  readonly #declared: number | null;
  readonly #pieces: Pieces;
  /** Chunks read ahead to find out whether the body is large. */
  #early: Uint8Array[] = [];
  #memory: BodyMemory | null = null;
  readonly #kept: (() => void)[] = [];
  #dropped = false;

  constructor(request: Request, budget: BodyBudget, pace: BodyPace) {
    const { headers, body } = request;
    const length = headers.get('content-length') ?? '';
    this.#budget = budget;
    this.#declared = /^\d{1,15}$/.test(length) ? Number(length) : null;
    this.#pieces = new Pieces(body, pace, !announcesBody(headers));
  }

  large(): boolean | Promise<boolean> {
    return this.#declared === null ? this.#begin() : this.#declared > FREE_BYTES;
  }

  async read(limit: number, keyId: string): Promise<Uint8Array> {
    const memory = new BodyMemory(this.#budget, keyId, this.#declared ?? limit);
    this.#memory = memory;
    await this.#take(limit, (chunk) => memory.add(chunk));
    return memory.whole();
  }

  pour(limit: number, take: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    return this.#take(limit, take);
  }

  free(): void {
    this.#memory?.release();
    this.#memory = null;
  }

  onRelease(listener: () => void): void {
    this.#kept.push(listener);
  }

  drop(): void {
    this.#dropped = true;
  }

  unread(): boolean {
    return this.#dropped && !this.#pieces.ended;
  }

  release(): void {
    for (const letGo of this.#kept.splice(0)) letGo();
    this.free();
  }

  async #begin(): Promise<boolean> {
    while (this.#pieces.bytes <= FREE_BYTES) {
      const piece = await this.#pieces.next();
      if (!piece) return false;
      this.#early.push(piece);
    }
    return true;
  }

  async #take(limit: number, take: (chunk: Uint8Array) => Promise<void> | null): Promise<void> {
    const pieces = this.#pieces;
    if ((this.#declared ?? pieces.bytes) > limit) throw tooLarge(limit);
    for (const piece of this.#early.splice(0)) await take(piece);
    if ((this.#declared ?? pieces.bytes) > FREE_BYTES) pieces.hurry();
    for (let piece = await pieces.next(); piece; piece = await pieces.next()) {
      if (pieces.bytes > limit) throw tooLarge(limit);
      await take(piece);
    }
  }
}

/** The chunks of a web stream; waiting for each one is limited by the pace. */
class Pieces {
  bytes = 0;
  ended: boolean;
  readonly #body: ReadableStream<Uint8Array> | null;
  readonly #pacer: Pacer;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;

  constructor(body: ReadableStream<Uint8Array> | null, pace: BodyPace, ended: boolean) {
    this.#body = body;
    this.#pacer = new Pacer(pace, performance.now());
    this.#pacer.pause(performance.now());
    this.ended = ended;
  }

  /** Enforces the minimum rate of large bodies from now on. */
  hurry(): void {
    this.#pacer.hurry(performance.now());
    this.#pacer.pause(performance.now());
  }

  /** @returns null at the end. @throws Refused `invalid_body` when the body is too slow or the client leaves. */
  async next(): Promise<Uint8Array | null> {
    if (this.#body === null) return null;
    this.#reader ??= this.#body.getReader();
    this.#pacer.resume(performance.now());
    const read = await this.#inTime(this.#reader.read());
    if (read.done) {
      this.ended = true;
      return null;
    }
    this.bytes += read.value.length;
    this.#pacer.came(read.value.length, performance.now());
    this.#pacer.pause(performance.now());
    return read.value;
  }

  async #inTime<Read>(read: Promise<Read>): Promise<Read> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const watch = () => {
        const nowMono = performance.now();
        const refused = this.#pacer.check(nowMono);
        if (refused) reject(refused);
        else timer = setTimeout(watch, Math.max(1, this.#pacer.dueMono - nowMono));
      };
      timer = setTimeout(watch, Math.max(1, this.#pacer.dueMono - performance.now()));
    });
    const cut = read.catch(() => {
      throw endedEarly();
    });
    try {
      return await Promise.race([cut, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Whether the headers announce a body: hosts attach an empty one to any method but GET and HEAD. */
function announcesBody(headers: Headers): boolean {
  return headers.has('transfer-encoding') || !/^0*$/.test(headers.get('content-length') ?? '');
}
