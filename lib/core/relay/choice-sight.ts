const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;

/** So a content chunk's choices begin; inside a JSON string the quotes would be escaped. */
const CHOICES = Buffer.from('"choices":');

/** Recognizes the common event with a choice by one native search, before any byte of it is examined. */
export class ChoiceSight {
  readonly #chunk: Buffer;
  /** The first choice at or after the last place asked about; -1: none follows. */
  #next = 0;

  constructor(chunk: Uint8Array) {
    this.#chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }

  /** Whether the line that starts at `from` is data and shows a choice. */
  hasChoice(from: number): boolean {
    if (this.#chunk[from] !== 0x64) return false;
    if (this.#next >= 0 && this.#next <= from) this.#next = this.#find(from);
    if (this.#next < 0) return false;
    for (let i = from; i < this.#next; i++) {
      const c = this.#chunk[i];
      if (c === LF || c === CR) return false;
    }
    return true;
  }

  /** Where non-empty choices begin; some servers write a space after the colon. */
  #find(from: number): number {
    let at = this.#chunk.indexOf(CHOICES, from);
    while (at >= 0) {
      let value = at + CHOICES.length;
      if (this.#chunk[value] === SPACE) value++;
      if (this.#chunk[value] === OPEN_ARRAY && this.#chunk[value + 1] === OPEN_OBJECT) return at;
      at = this.#chunk.indexOf(CHOICES, value);
    }
    return -1;
  }
}
