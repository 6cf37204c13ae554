import { type BodyBudget, type BodyShare, FREE_BYTES } from '#lib/gateway/flow/body-budget';
import { takeTurn } from '#lib/gateway/flow/upload/turns';

/** Initial size of the buffer of a large body, bytes. */
const FIRST_BYTES = 512 * 1024;

/** A buffer up to this size is grown at once: copying it takes less than a millisecond. */
const QUICK_BYTES = 1024 * 1024;

/**
 * Collects a body in memory. Up to 256 KiB its chunks are kept as they arrive; a larger body is copied into one buffer
 * that at most doubles as bytes arrive, so that a large Content-Length by itself reserves no memory.
 */
export class BodyMemory {
  readonly #budget: BodyBudget;
  readonly #keyId: string;
  readonly #mostBytes: number;
  readonly #besideBytes: number;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #buffer: Buffer<ArrayBuffer> | null = null;
  #share: BodyShare | null = null;
  #released = false;

  /**
   * @param mostBytes the announced Content-Length, else the size limit.
   * @param besideBytes how many of the last decoded bytes a decoder keeps: it counts until the body is complete.
   */
  constructor(budget: BodyBudget, keyId: string, mostBytes: number, besideBytes = 0) {
    this.#budget = budget;
    this.#keyId = keyId;
    this.#mostBytes = mostBytes;
    this.#besideBytes = besideBytes;
  }

  /** Adds the next chunk. @returns a promise to await before the next one; null: none is needed. */
  add(chunk: Uint8Array): Promise<void> | null {
    const start = this.#size;
    this.#size += chunk.length;
    if (this.#size <= FREE_BYTES) {
      this.#chunks.push(chunk);
      return null;
    }
    if (this.#buffer === null || this.#size > this.#buffer.length) {
      const bytes = this.#nextBytes();
      this.#share ??= this.#budget.open(this.#keyId, this.#taking(Math.max(this.#mostBytes, this.#size)));
      const wait = this.#share.grow(this.#taking(bytes));
      if (wait || bytes > QUICK_BYTES) return this.#placeInTurn(wait, chunk, start, bytes);
      this.#place(chunk, start, bytes);
    } else {
      this.#buffer.set(chunk, start);
    }
    return null;
  }

  /** The complete body; called after the last chunk. */
  whole(): Uint8Array {
    const [only] = this.#chunks;
    if (this.#buffer === null) {
      return this.#chunks.length === 1 && only ? only : Buffer.concat(this.#chunks, this.#size);
    }
    // The buffer is at most the announced length, so little of it stays unused.
    this.#share?.received(this.#buffer.length);
    return this.#buffer.subarray(0, this.#size);
  }

  /** Returns its memory to the budget; the body cannot be read afterwards. */
  release(): void {
    this.#released = true;
    this.#share?.release();
    this.#chunks = [];
    this.#buffer = null;
  }

  /** What a body of so many bytes takes while it is received. */
  #taking(bytes: number): number {
    return bytes + Math.min(bytes, this.#besideBytes);
  }

  #nextBytes(): number {
    const doubled = Math.max(FIRST_BYTES, (this.#buffer?.length ?? 0) * 2);
    return Math.max(this.#size, Math.min(doubled, this.#mostBytes));
  }

  /** Many bodies may have to grow at once: one of them is copied in a round of the event loop. */
  async #placeInTurn(
    wait: Promise<void> | null,
    chunk: Uint8Array,
    start: number,
    bytes: number,
  ): Promise<void> {
    if (wait) await wait;
    if (bytes > QUICK_BYTES) await takeTurn(Math.max(0, this.#mostBytes - start));
    if (!this.#released) this.#place(chunk, start, bytes);
  }

  #place(chunk: Uint8Array, start: number, bytes: number): void {
    const grown = Buffer.allocUnsafeSlow(bytes);
    const old = this.#buffer;
    if (old) {
      grown.set(old);
      // Frees the memory now instead of at the next garbage collection, before which dozens could pile up.
      old.buffer.transfer(0);
    } else {
      let at = 0;
      for (const early of this.#chunks) {
        grown.set(early, at);
        at += early.length;
      }
      this.#chunks = [];
    }
    grown.set(chunk, start);
    this.#buffer = grown;
  }
}
