import { type BodyBudget, type BodyShare, FREE_BYTES } from '#lib/gateway/body-budget';

/** What a body's buffer has at first, once it is large. */
const FIRST_BYTES = 512 * 1024;

/**
 * A body that is collected in memory: as it comes while it is small, else in one buffer that at most
 * doubles with what arrives, so that nobody takes memory by announcing a length.
 */
export class BodyMemory {
  readonly #budget: BodyBudget;
  readonly #keyId: string;
  readonly #mostBytes: number;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #buffer: Buffer<ArrayBuffer> | null = null;
  #share: BodyShare | null = null;

  /** @param mostBytes its announced length, else the limit. */
  constructor(budget: BodyBudget, keyId: string, mostBytes: number) {
    this.#budget = budget;
    this.#keyId = keyId;
    this.#mostBytes = mostBytes;
  }

  /** Takes the next piece. @returns null when the one after it may come; else what to wait for. */
  add(chunk: Uint8Array): Promise<void> | null {
    const start = this.#size;
    this.#size += chunk.length;
    if (this.#size <= FREE_BYTES) {
      this.#chunks.push(chunk);
      return null;
    }
    if (this.#buffer === null || this.#size > this.#buffer.length) {
      const bytes = this.#nextBytes();
      this.#share ??= this.#budget.open(this.#keyId, Math.max(this.#mostBytes, this.#size));
      const wait = this.#share.grow(bytes);
      if (wait) return wait.then(() => this.#place(chunk, start, bytes));
      this.#place(chunk, start, bytes);
    } else {
      this.#buffer.set(chunk, start);
    }
    return null;
  }

  /** The body, once it has come whole. */
  whole(): Uint8Array {
    const [only] = this.#chunks;
    if (this.#buffer === null) {
      return this.#chunks.length === 1 && only ? only : Buffer.concat(this.#chunks, this.#size);
    }
    // Of what it does not fill, only an announced length that was wrong would leave much.
    this.#share?.received(this.#buffer.length);
    return this.#buffer.subarray(0, this.#size);
  }

  /** Gives its memory back to the budget: the call no longer needs it. */
  release(): void {
    this.#share?.release();
    this.#chunks = [];
    this.#buffer = null;
  }

  #nextBytes(): number {
    const doubled = Math.max(FIRST_BYTES, (this.#buffer?.length ?? 0) * 2);
    return Math.max(this.#size, Math.min(doubled, this.#mostBytes));
  }

  #place(chunk: Uint8Array, start: number, bytes: number): void {
    const grown = Buffer.allocUnsafeSlow(bytes);
    const old = this.#buffer;
    if (old) {
      grown.set(old);
      // Frees its memory now: the collector would let dozens of such buffers lie.
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
