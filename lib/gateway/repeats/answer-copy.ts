/** The most that is kept of an answer, bytes (contract: repeats/bounds). */
const MOST_ANSWER = 4_194_304;

/** Memory for copies. */
export interface CopyRoom {
  /** @returns false: there is no room. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** An answer as its client got it. */
export interface CopiedAnswer {
  readonly status: number;
  /** Name, value, name, value … */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/**
 * Copies an answer as it is sent, in the place of a reply: first beside that of the client, then what is left is written
 * only to it, so that the answer is kept before its last byte goes out.
 */
export class AnswerCopy {
  readonly #room: CopyRoom;
  readonly #chunks: Uint8Array[] = [];
  #status = 0;
  #headers: readonly string[] = [];
  #bytes = 0;
  #lost = false;
  #closed = false;

  constructor(room: CopyRoom) {
    this.#room = room;
  }

  start(status: number, headers: readonly string[]): void {
    if (this.#closed) return;
    this.#status = status;
    this.#headers = headers;
  }

  started(): boolean {
    return this.#status !== 0;
  }

  write(piece: Uint8Array): boolean {
    if (this.#closed || this.#lost || piece.length === 0) return true;
    if (this.#bytes + piece.length > MOST_ANSWER || !this.#room.take(piece.length)) {
      this.#lost = true;
      this.#empty();
      return true;
    }
    this.#bytes += piece.length;
    this.#chunks.push(Buffer.from(piece));
    return true;
  }

  onDrain(): void {}

  end(last?: Uint8Array | string): void {
    if (last !== undefined) this.write(Buffer.from(last));
  }

  cut(): void {
    this.#lost = true;
  }

  /** Takes no more. @returns the answer; null: it was too long, or there was no room. */
  close(): CopiedAnswer | null {
    this.#closed = true;
    const body = Buffer.concat(this.#chunks);
    const lost = this.#lost;
    this.#empty();
    return lost ? null : { status: this.#status, headers: this.#headers, body };
  }

  #empty(): void {
    this.#room.give(this.#bytes);
    this.#bytes = 0;
    this.#chunks.length = 0;
  }
}
