import type { QuickScanner } from '#lib/core/families/scan/quick';

/** The lexical half of the one pass over a body: strings, numbers, spaces. Offsets are in bytes. */

/** The byte at `index`. Every caller has checked that `index` lies inside. */
export function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] as number;
}

/** 1 for the bytes that end a run of plain string bytes: quote, backslash, control characters. */
const stops = new Uint8Array(256).fill(1, 0, 0x20);
stops[0x22] = 1;
stops[0x5c] = 1;

/** 1 for the letters that may follow a backslash, except `u`. */
const escapes = new Uint8Array(256);
for (const letter of '"\\/bfnrt') escapes[letter.charCodeAt(0)] = 1;

/** 1 for digits 0-9, a-f, A-F. */
const hexDigits = new Uint8Array(256);
for (const digit of '0123456789abcdefABCDEF') hexDigits[digit.charCodeAt(0)] = 1;

/** The same bytes, to be compared one by one, four at a time, and 16 at a time. */
export interface Text {
  readonly bytes: Buffer;
  readonly view: DataView;
  /** Null: no part of them is loaded into it. */
  quick: QuickScanner | null;
}

/**
 * @param from a byte of the string after its opening quote, not inside an escape.
 * @param until where to pause, at most the body's length.
 * @returns the offset after the closing quote; `~offset` (negative) of an invalid byte; or, when the string continues
 * beyond `until`, the length of the body plus the offset to continue at.
 */
export function stringEnd({ bytes, view, quick }: Text, from: number, until: number): number {
  let i = quick === null ? from : quick.textEnd(from, until);
  for (;;) {
    i = plainEnd(bytes, view, i, until);
    // Escapes often come in a row: Chinese as Python writes it, code.
    while (i < until && byteAt(bytes, i) === 0x5c) {
      i = escapeEnd(bytes, i);
      if (i < 0) return i;
    }
    if (i >= until) return until < bytes.length ? bytes.length + i : ~bytes.length;
    const c = byteAt(bytes, i);
    if (c === 0x22) return i + 1;
    if (c < 0x20) return ~i;
  }
}

/** @param from a backslash. @returns the offset after the escape; `~offset` (negative) where it goes wrong. */
function escapeEnd(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  if (from + 1 >= length) return ~length;
  const letter = byteAt(bytes, from + 1);
  if (byteAt(escapes, letter) === 1) return from + 2;
  if (letter !== 0x75) return ~from;
  for (let digit = from + 2; digit < from + 6; digit++) {
    if (digit >= length) return ~length;
    if (byteAt(hexDigits, byteAt(bytes, digit)) === 0) return ~from;
  }
  return from + 6;
}

/**
 * Skips plain string bytes, four at a time: subtracting and masking sets the top bit of a byte that is a control
 * character, a quote or a backslash. A function of its own, because the compiler does worse with a loop inside a larger one.
 */
function plainEnd(bytes: Uint8Array, view: DataView, from: number, until: number): number {
  let i = from;
  for (; i + 4 <= until; i += 4) {
    const four = view.getInt32(i, true);
    const quote = four ^ 0x22222222;
    const backslash = four ^ 0x5c5c5c5c;
    const stopped =
      ((four - 0x20202020) & ~four) |
      ((quote - 0x01010101) & ~quote) |
      ((backslash - 0x01010101) & ~backslash);
    const tops = stopped & 0x80808080;
    // The lowest of these bits is the first such byte; those above it may be false.
    if (tops !== 0) return i + ((31 - Math.clz32(tops & -tops)) >> 3);
  }
  while (i < until && byteAt(stops, byteAt(bytes, i)) === 0) i++;
  return i;
}

/** @returns the first offset from `from` on, before `until`, that is not JSON white space; else `until`. */
export function skipSpace(body: Uint8Array, from: number, until: number): number {
  let i = from;
  while (i < until) {
    const c = byteAt(body, i);
    if (c > 0x20 || (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09)) break;
    i++;
  }
  return i;
}

/** Whether a byte is one of the digits 0 to 9. */
export function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39;
}

/**
 * @param from the minus sign or first digit.
 * @param until limit: a number that reaches it is too long.
 * @returns the offset after the number; `~offset` (negative) where it goes wrong.
 */
export function numberEnd(body: Uint8Array, from: number, until: number): number {
  const last = Math.min(until, body.length);
  const start = byteAt(body, from) === 0x2d ? from + 1 : from;
  let i = start;
  while (i < last && isDigit(byteAt(body, i))) i++;
  if (i === start) return ~start;
  if (i === last) return byteAt(body, start) === 0x30 ? start + 1 : i;
  if (byteAt(body, start) === 0x30) i = start + 1;
  let c = byteAt(body, i);
  if (c === 0x2e) {
    const fraction = digitsEnd(body, i + 1, last);
    if (fraction === i + 1) return ~fraction;
    i = fraction;
    c = i < last ? byteAt(body, i) : 0;
  }
  if (c === 0x65 || c === 0x45) {
    const sign = body[i + 1];
    const digits = sign === 0x2b || sign === 0x2d ? i + 2 : i + 1;
    const exponent = digitsEnd(body, digits, last);
    if (exponent === digits) return ~digits;
    i = exponent;
  }
  return i;
}

function digitsEnd(body: Uint8Array, from: number, until: number): number {
  let i = from;
  while (i < until && isDigit(byteAt(body, i))) i++;
  return i;
}

/** The text between the quotes of a checked string: bytes [start, end), unescaped. */
export function textOf(body: Buffer, start: number, end: number): string {
  const raw = body.toString('utf8', start, end);
  return raw.includes('\\') ? stringFrom(JSON.parse(`"${raw}"`)) : raw;
}

/** JSON.parse of a quoted, checked string gives a string. */
function stringFrom(parsed: unknown): string {
  return parsed as string;
}
