const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LONGEST_KEY = 'choices'.length;

type Phase = 'start' | 'key' | 'colon' | 'value' | 'inside' | 'choices' | 'end';

/**
 * Reads the JSON of one event byte by byte, just far enough to see that it does more than report usage: a choice, an
 * error, or `usage: null`. It never says yes; `judge` does.
 */
export class UsageProbe {
  #phase: Phase = 'start';
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** As far as it matters; null: no key is being read. */
  #key: string | null = null;

  /** @returns false once the event cannot be one; feed nothing after that. */
  feed(c: number): boolean {
    if (this.#inString) {
      this.#feedString(c);
      return true;
    }
    if (c === 0x20 || c === 0x09 || c === 0x0a || c === 0x0d) return true;
    switch (this.#phase) {
      case 'start':
        this.#depth = 1;
        this.#phase = 'key';
        return c === 0x7b;
      case 'key':
        if (c === 0x7d) return this.#close();
        this.#key = '';
        this.#inString = true;
        return c === QUOTE;
      case 'colon':
        this.#phase = 'value';
        return c === 0x3a;
      case 'value':
        return this.#startValue(c);
      case 'choices':
        this.#depth = 1;
        this.#phase = 'inside';
        return c === 0x5d;
      case 'inside':
        return this.#feedInside(c);
      case 'end':
        return false;
    }
  }

  #feedString(c: number): void {
    if (this.#escaped) {
      this.#escaped = false;
    } else if (c === BACKSLASH) {
      this.#escaped = true;
      // A key that is written with escapes is left to the end of the event.
      if (this.#key !== null) this.#key = '\\';
    } else if (c === QUOTE) {
      this.#inString = false;
      if (this.#key !== null) this.#phase = 'colon';
    } else if (this.#key !== null && this.#key.length <= LONGEST_KEY) {
      this.#key += String.fromCharCode(c);
    }
  }

  #startValue(c: number): boolean {
    const key = this.#key;
    const isNull = c === 0x6e;
    this.#key = null;
    this.#phase = 'inside';
    if (key === 'choices' && !isNull) {
      this.#phase = 'choices';
      return c === 0x5b;
    }
    if ((key === 'usage' && isNull) || (key === 'error' && !isNull)) return false;
    return this.#feedInside(c);
  }

  #feedInside(c: number): boolean {
    if (c === QUOTE) this.#inString = true;
    else if (c === 0x7b || c === 0x5b) this.#depth++;
    else if (c === 0x2c && this.#depth === 1) this.#phase = 'key';
    else if (c === 0x7d || c === 0x5d) {
      if (this.#depth === 1) return this.#close();
      this.#depth--;
    }
    return true;
  }

  #close(): boolean {
    this.#depth = 0;
    this.#phase = 'end';
    return true;
  }
}
