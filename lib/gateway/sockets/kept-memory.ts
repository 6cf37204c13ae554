/** What a process keeps of responses for all its connections, bytes (contract: sockets/continuation). */
const MOST_BYTES = 128 * 1024 * 1024;

/** Limits the memory that kept responses take together. */
export class KeptMemory {
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** @returns whether there was room. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#mostBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  free(bytes: number): void {
    this.#bytes -= bytes;
  }
}
