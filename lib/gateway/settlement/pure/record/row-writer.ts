import { typeIds } from '#lib/gateway/settlement/pure/record/columns';
import { mostText, storable } from '#lib/gateway/settlement/pure/record/storable';

/** Bytes of a row inside of a buffer. */
export interface RowBytes {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Columns of a row that is written again and again. */
export interface KeptColumns {
  bytes: Buffer;
  end: number;
}

/** 2000-01-01: where the database's clock begins, ms since the epoch. */
export const databaseEpochMs = 946_684_800_000;
/** A value that its type cannot hold is longer than those of every fixed length. */
const leastMisfit = 17;
export const padding = '\u0001';
const headerBytes = 8;
const mostExact = BigInt(Number.MAX_SAFE_INTEGER);
const mostBigint = 2n ** 63n - 1n;
const mostInt = 2_147_483_647;
const word = 2 ** 32;

/** Values of hexadecimal digits by their character codes; 255: none. */
const digits = new Uint8Array(128).fill(255);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  digits[digit.charCodeAt(0)] = value;
  digits[digit.toUpperCase().charCodeAt(0)] = value;
}

/**
 * Writes values of a composite type as PostgreSQL receives them: big-endian, before each column its type and
 * its length. A value that its type cannot hold is written as a string of another length: the database refuses
 * only that row, and a reader gets the value back.
 */
export class RowWriter implements RowBytes {
  bytes = Buffer.allocUnsafeSlow(8 * 1024);
  readonly start = 0;
  end = 0;

  /** Begins a row over the last one. @param columns how many it will have. */
  begin(columns: number): void {
    this.end = 0;
    this.#word(columns);
  }

  null(type: number): void {
    this.#header(type, -1);
  }

  bool(value: boolean): void {
    this.#header(typeIds.bool, 1);
    this.bytes[this.end++] = value ? 1 : 0;
  }

  /** Rounded, from 0 to what the type holds. */
  int(value: number | null): void {
    if (value === null) {
      this.null(typeIds.int);
      return;
    }
    this.#header(typeIds.int, 4);
    this.#word(Number.isFinite(value) ? Math.min(Math.max(Math.round(value), 0), mostInt) : 0);
  }

  real(value: number): void {
    this.#header(typeIds.real, 4);
    this.end = this.bytes.writeFloatBE(Number.isFinite(value) ? value : 0, this.end);
  }

  bigint(value: bigint): void {
    if (value > mostBigint || value < -mostBigint) {
      this.#misfit(typeIds.bigint, `${value}`);
      return;
    }
    this.#header(typeIds.bigint, 8);
    if (value > mostExact || value < -mostExact) this.end = this.bytes.writeBigInt64BE(value, this.end);
    else this.#long(Number(value));
  }

  /** @param ms since the epoch; parts of a millisecond are left out. */
  timestamptz(ms: number): void {
    if (!(Math.abs(ms) <= 8.64e15)) {
      this.#misfit(typeIds.timestamptz, `${ms}`);
      return;
    }
    this.#header(typeIds.timestamptz, 8);
    const sinceMs = Math.trunc(ms) - databaseEpochMs;
    // Up to the year 2255 microseconds are exact as numbers.
    if (Math.abs(sinceMs) <= Number.MAX_SAFE_INTEGER / 1000) this.#long(sinceMs * 1000);
    else this.end = this.bytes.writeBigInt64BE(BigInt(sinceMs) * 1000n, this.end);
  }

  uuid(value: string | null): void {
    if (value === null) {
      this.null(typeIds.uuid);
      return;
    }
    this.#header(typeIds.uuid, 16);
    if (!this.#uuidDigits(value)) {
      this.end -= headerBytes;
      this.#misfit(typeIds.uuid, value);
    }
  }

  text(value: string | null): void {
    if (value === null) {
      this.null(typeIds.text);
      return;
    }
    this.#header(typeIds.text, value.length);
    this.#characters(value);
  }

  texts(values: readonly string[]): void {
    this.#header(typeIds['text[]'], 12);
    const from = this.end;
    this.#word(values.length === 0 ? 0 : 1);
    this.#word(0);
    this.#word(typeIds.text);
    if (values.length === 0) return;
    this.#reserve(8);
    this.#word(values.length);
    this.#word(1);
    for (const value of values) {
      this.#reserve(4);
      this.#word(value.length);
      this.#characters(value);
    }
    this.#lengthAt(from - 4);
  }

  /** @param text in ASCII. */
  json(text: string): void {
    this.#header(typeIds.json, text.length);
    this.#reserve(text.length);
    this.end += this.bytes.write(text, this.end, 'latin1');
  }

  /** Columns that were written before and kept. */
  again({ bytes, end }: KeptColumns): void {
    this.#reserve(end);
    bytes.copy(this.bytes, this.end, 0, end);
    this.end += end;
  }

  /** Keeps what was written from there on, over what was kept before: without memory of its own for each. */
  keep(from: number, kept: KeptColumns): void {
    const length = this.end - from;
    if (kept.bytes.length < length) kept.bytes = Buffer.allocUnsafeSlow(length * 2);
    kept.end = this.bytes.copy(kept.bytes, 0, from, this.end);
  }

  /** Behind a length of as many bytes as the text has characters, which is corrected where it has more. */
  #characters(value: string): void {
    const lengthAt = this.end - 4;
    this.#reserve(Math.min(value.length, mostText) * 3);
    // Mostly short strings: a loop costs less than a call into native code.
    if (value.length > 200 || !this.#ascii(value)) {
      this.end = lengthAt + 4;
      this.end += this.bytes.write(storable(value), this.end);
      this.#lengthAt(lengthAt);
    }
  }

  /** @returns false for what has to be looked at: other characters, NUL. */
  #ascii(value: string): boolean {
    const { bytes } = this;
    let at = this.end;
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code === 0 || code > 127) return false;
      bytes[at++] = code;
    }
    this.end = at;
    return true;
  }

  #uuidDigits(value: string): boolean {
    if (value.length !== 36) return false;
    const { bytes } = this;
    let at = this.end;
    let wrong = 0;
    for (let index = 0; index < 36; index += 2) {
      if (index === 8 || index === 13 || index === 18 || index === 23) {
        wrong |= value.charCodeAt(index) ^ 0x2d;
        index += 1;
      }
      const high = digits[value.charCodeAt(index)] ?? 255;
      const low = digits[value.charCodeAt(index + 1)] ?? 255;
      wrong |= (high | low) & 0xf0;
      bytes[at++] = (high << 4) | low;
    }
    if (wrong !== 0) return false;
    this.end = at;
    return true;
  }

  #misfit(type: number, value: string): void {
    this.#header(type, 0);
    const lengthAt = this.end - 4;
    const text = storable(value).padEnd(leastMisfit, padding);
    this.#reserve(text.length * 3);
    this.end += this.bytes.write(text, this.end);
    this.#lengthAt(lengthAt);
  }

  #header(type: number, length: number): void {
    this.#reserve(headerBytes + 16);
    this.#word(type);
    this.#word(length);
  }

  #word(value: number): void {
    const { bytes, end } = this;
    bytes[end] = value >>> 24;
    bytes[end + 1] = value >>> 16;
    bytes[end + 2] = value >>> 8;
    bytes[end + 3] = value;
    this.end = end + 4;
  }

  /** @param value a whole number, exact. */
  #long(value: number): void {
    const high = Math.floor(value / word);
    this.#word(high);
    this.#word(value - high * word);
  }

  #lengthAt(at: number): void {
    this.bytes.writeInt32BE(this.end - at - 4, at);
  }

  #reserve(room: number): void {
    if (this.end + room <= this.bytes.length) return;
    const more = Buffer.allocUnsafeSlow((this.end + room) * 2);
    this.bytes.copy(more, 0, 0, this.end);
    this.bytes = more;
  }
}
