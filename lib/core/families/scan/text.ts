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

/**
 * @param from a byte of the string after its opening quote, not inside an escape.
 * @param until where to pause, at most the body's length.
 * @returns the offset after the closing quote; `~offset` (negative) of an invalid byte; or, when the string continues
 * beyond `until`, the length of the body plus the offset to continue at.
 */
export function stringEnd(body: Uint8Array, from: number, until: number): number {
  const length = body.length;
  let i = from;
  for (;;) {
    while (i < until && byteAt(stops, byteAt(body, i)) === 0) i++;
    if (i >= until) return until < length ? length + i : ~length;
    const c = byteAt(body, i);
    if (c === 0x22) return i + 1;
    if (c !== 0x5c || i + 1 >= length) return ~(c === 0x5c ? length : i);
    const letter = byteAt(body, i + 1);
    if (byteAt(escapes, letter) === 1) {
      i += 2;
    } else {
      if (letter !== 0x75) return ~i;
      for (let digit = i + 2; digit < i + 6; digit++) {
        if (digit >= length) return ~length;
        if (byteAt(hexDigits, byteAt(body, digit)) === 0) return ~i;
      }
      i += 6;
    }
  }
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

function digitsEnd(body: Uint8Array, from: number, until: number): number {
  let i = from;
  while (i < until) {
    const c = body[i];
    if (c === undefined || c < 0x30 || c > 0x39) break;
    i++;
  }
  return i;
}

/**
 * @param from the minus sign or first digit.
 * @param until limit: a number that reaches it is too long.
 * @returns the offset after the number; `~offset` (negative) where it goes wrong.
 */
export function numberEnd(body: Uint8Array, from: number, until: number): number {
  const start = body[from] === 0x2d ? from + 1 : from;
  let i = body[start] === 0x30 ? start + 1 : digitsEnd(body, start, until);
  if (i === start) return ~start;
  if (i < until && body[i] === 0x2e) {
    const fraction = digitsEnd(body, i + 1, until);
    if (fraction === i + 1) return ~fraction;
    i = fraction;
  }
  if (i < until && (body[i] === 0x65 || body[i] === 0x45)) {
    const sign = body[i + 1];
    const digits = sign === 0x2b || sign === 0x2d ? i + 2 : i + 1;
    const exponent = digitsEnd(body, digits, until);
    if (exponent === digits) return ~digits;
    i = exponent;
  }
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
