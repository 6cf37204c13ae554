/** Bytes that one element may have before it is passed over instead of kept. */
const MAX_ELEMENT_BYTES = 8 * 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Cuts a JSON array that is streamed into its elements, wherever the chunks end; a lone object counts as
 * the one element. It only finds where they end: what goes to the client are the chunks themselves, and
 * whether an element is JSON its reader learns. Keeps no more than the current element.
 */
export class ElementSplitter {
  readonly #maxElementBytes: number;
  /** Brackets that are open. */
  #depth = 0;
  /** Depth of the elements: 1 in an array, 0 for a lone object; -1: nothing has arrived yet. */
  #base = -1;
  #inString = false;
  #escaped = false;
  /** Pieces of the element that is not yet ended. */
  #parts: Uint8Array[] = [];
  #size = 0;
  #skipping = false;
  #overflowed = false;
  #bytes = 0;
  /** The answer does not begin like JSON: compressed bytes contain brackets by chance. */
  #alien = false;

  constructor(maxElementBytes = MAX_ELEMENT_BYTES) {
    this.#maxElementBytes = maxElementBytes;
  }

  /** An element was too long to be read; it went by unseen. */
  get overflowed(): boolean {
    return this.#overflowed;
  }

  /** The array, or the lone object, was not closed. */
  get open(): boolean {
    return this.#depth > 0;
  }

  /** Bytes of an answer that is not JSON: all of them, else none. */
  get unreadBytes(): number {
    return this.#alien ? this.#bytes : 0;
  }

  /** @returns the elements that this chunk completes. The chunk must not change afterwards. */
  push(chunk: Uint8Array): readonly { readonly name: null; readonly data: string }[] {
    const found: { name: null; data: string }[] = [];
    this.#bytes += chunk.length;
    this.#alien ||= this.#base < 0 && !opensJson(chunk);
    if (this.#alien) return found;
    let from = this.#base >= 0 && this.#depth > this.#base ? 0 : -1;
    for (let i = 0; i < chunk.length; i++) {
      const c = chunk[i];
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (c === BACKSLASH) this.#escaped = true;
        else if (c === QUOTE) this.#inString = false;
      } else if (c === QUOTE) {
        this.#inString = true;
      } else if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
        if (this.#base < 0) this.#base = c === OPEN_ARRAY ? 1 : 0;
        if (this.#depth === this.#base) from = i;
        this.#depth++;
      } else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) {
        this.#depth--;
        if (this.#depth !== this.#base || from < 0) continue;
        const data = this.#take(chunk.subarray(from, i + 1));
        from = -1;
        if (data !== null) found.push({ name: null, data });
      }
    }
    if (from >= 0) this.#keep(chunk.subarray(from));
    return found;
  }

  /** The answer is over. An element that it left open cannot be read. */
  flush(): null {
    return null;
  }

  #keep(piece: Uint8Array): void {
    this.#size += piece.length;
    if (this.#size > this.#maxElementBytes) {
      this.#skipping = true;
      this.#overflowed = true;
      this.#parts = [];
    }
    if (!this.#skipping) this.#parts.push(piece);
  }

  #take(tail: Uint8Array): string | null {
    this.#keep(tail);
    const text = this.#skipping ? null : Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#size = 0;
    this.#skipping = false;
    return text;
  }
}

/** Whether the first byte that is not a space opens an array or an object; true while there is none. */
function opensJson(chunk: Uint8Array): boolean {
  const first = chunk.find((c) => c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09);
  return first === undefined || first === OPEN_ARRAY || first === OPEN_OBJECT;
}
