/** The most that is kept of a request or an answer, bytes (contract: content/what). */
export const MOST_KEPT = 1_048_576;

/** Memory for copies. */
export interface CopyRoom {
  /** @returns false: there is no room. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** The first bytes of a request or an answer. */
export interface CopiedSide {
  readonly contentType: string;
  /** "gzip"; "": none. */
  readonly coding: string;
  readonly data: Buffer;
  /** Whether there was more. */
  readonly cut: boolean;
}

/** Copies of what a running call was asked and is answered, as far as there is room. */
export class ContentCopy {
  readonly #room: CopyRoom;
  readonly #request: CopiedSide;
  readonly #chunks: Buffer[] = [];
  #headers: readonly string[] = [];
  #answerBytes = 0;
  #cut = false;
  #taken = 0;
  #lost = false;

  /** @param body is copied: its memory belongs to the call. */
  constructor(room: CopyRoom, contentType: string, body: Uint8Array) {
    this.#room = room;
    const data = this.#copied(body.subarray(0, MOST_KEPT));
    this.#request = { contentType, coding: '', data, cut: body.length > MOST_KEPT };
  }

  /** There was no room for all of it. */
  get lost(): boolean {
    return this.#lost;
  }

  /** Memory that it takes, bytes. */
  get bytes(): number {
    return this.#taken;
  }

  /** @param headers name, value, name, value … of the answer. */
  start(_status: number, headers: readonly string[]): void {
    this.#headers = headers;
  }

  /** A piece of the answer. */
  write(piece: Uint8Array): void {
    if (this.#lost) return;
    const part = piece.subarray(0, MOST_KEPT - this.#answerBytes);
    if (part.length < piece.length) this.#cut = true;
    if (part.length === 0) return;
    this.#answerBytes += part.length;
    this.#chunks.push(this.#copied(part));
  }

  request(): CopiedSide {
    return this.#request;
  }

  answer(): CopiedSide {
    return {
      contentType: this.#header('content-type'),
      coding: this.#header('content-encoding').trim().toLowerCase(),
      data: Buffer.concat(this.#chunks),
      cut: this.#cut,
    };
  }

  /** Returns its memory; it has no content afterwards. */
  free(): void {
    this.#room.give(this.#taken);
    this.#taken = 0;
    this.#chunks.length = 0;
  }

  #copied(bytes: Uint8Array): Buffer {
    if (!this.#room.take(bytes.length)) {
      this.#lost = true;
      this.free();
      return Buffer.alloc(0);
    }
    this.#taken += bytes.length;
    return Buffer.from(bytes);
  }

  #header(name: string): string {
    const at = this.#headers.findIndex((text, place) => place % 2 === 0 && text === name);
    return at < 0 ? '' : (this.#headers[at + 1] ?? '');
  }
}
