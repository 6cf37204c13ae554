/**
 * The fast half of the pass over a body, in AssemblyScript: it passes over what the gateway does not read. Addresses
 * are those of its memory, into which a part of the body is copied. It reports no faults: it stops in front of
 * everything that it does not take, and the parser in lib/core/families/scan/read.ts decides what that is.
 */

// The memory, 64 KiB a page: one page for results and frames, four for the part, and one that may be read past its end.
const PHASE: usize = 0;
const DEPTH: usize = 4;
const REACHED: usize = 8;
const FRAMES: usize = 64;
const FRAME_BYTES: usize = 24;

// A frame: whether it is an object, its start, its last key without quotes, the value of its last key of a media type.
const START: usize = 4;
const KEY_START: usize = 8;
const KEY_END: usize = 12;
const MEDIA_START: usize = 16;
const MEDIA_END: usize = 20;

// The same as in read.ts.
const FIRST_MEMBER: i32 = 0;
const MEMBER: i32 = 1;
const COLON_AFTER_KEY: i32 = 2;
const VALUE: i32 = 3;
const FIRST_ELEMENT: i32 = 4;
const AFTER: i32 = 5;

/** Longest string that cannot be media, with its quotes. */
const SHORT_STRING: usize = 1026;
/** Numbers from this length on are refused. */
const LONG_NUMBER: usize = 65536;

/** The first byte from `from` on that ends a run of plain string bytes, which may lie beyond the part. */
function plainEnd(from: usize, until: usize): usize {
  let at = from;
  const space = i8x16.splat(0x20);
  const quote = i8x16.splat(0x22);
  const backslash = i8x16.splat(0x5c);
  while (at < until) {
    const bytes = v128.load(at);
    const stops = i8x16.bitmask(
      v128.or(
        i8x16.lt_u(bytes, space),
        v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash)),
      ),
    );
    if (stops != 0) return at + ctz(stops);
    at += 16;
  }
  return at;
}

function isHex(c: u32): bool {
  return c - 0x30 < 10 || (c | 0x20) - 0x61 < 6;
}

/** The letters that may follow a backslash, except `u`: bits of the characters up to 63, and of those up to 127. */
const MARKS: u64 = 0x0000800400000000;
const LETTERS: u64 = 0x0014404410000000;

/** @returns the address after the escape; 0: it is invalid or not complete. */
function escapeEnd(from: usize, until: usize): usize {
  if (from + 2 > until) return 0;
  const letter = <u32>load<u8>(from, 1);
  if (letter == 0x75) {
    if (from + 6 > until) return 0;
    return isHex(load<u8>(from, 2)) && isHex(load<u8>(from, 3)) && isHex(load<u8>(from, 4)) && isHex(load<u8>(from, 5))
      ? from + 6
      : 0;
  }
  const known = letter < 128 && (((letter < 64 ? MARKS : LETTERS) >> <u64>(letter & 63)) & 1) != 0;
  return known ? from + 2 : 0;
}

/**
 * Passes over the inside of a string.
 * @returns the address of its closing quote, of what is not valid in it, of an escape that `until` cuts, or `until`.
 */
export function textEnd(from: usize, until: usize): usize {
  let at = from;
  while (true) {
    at = plainEnd(at, until);
    if (at >= until) return until;
    // Escapes often come in a row.
    do {
      if (load<u8>(at) != 0x5c) return at;
      const next = escapeEnd(at, until);
      if (next == 0) return at;
      at = next;
    } while (at < until && load<u8>(at) == 0x5c);
  }
}

/** Passes over the characters of both base64 alphabets. */
export function base64End(from: usize, until: usize): usize {
  let at = from;
  while (at < until) {
    const bytes = v128.load(at);
    const letters = i8x16.lt_u(i8x16.sub(v128.or(bytes, i8x16.splat(0x20)), i8x16.splat(0x61)), i8x16.splat(26));
    const digits = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(10));
    const marks = v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(0x2b)), i8x16.eq(bytes, i8x16.splat(0x2f))),
      v128.or(i8x16.eq(bytes, i8x16.splat(0x2d)), i8x16.eq(bytes, i8x16.splat(0x5f))),
    );
    const others = i8x16.bitmask(v128.or(letters, v128.or(digits, marks))) ^ 0xffff;
    if (others != 0) {
      at += ctz(others);
      break;
    }
    at += 16;
  }
  return at < until ? at : until;
}

/** @returns the address after the string; 0: it is not one that ends before `until`. */
function stringEnd(from: usize, until: usize): usize {
  const at = textEnd(from, until);
  return at < until && load<u8>(at) == 0x22 ? at + 1 : 0;
}

function digitsEnd(from: usize, until: usize): usize {
  let at = from;
  while (at < until && <u32>load<u8>(at) - 0x30 < 10) at++;
  return at;
}

/** @returns the address after the number; 0: it is invalid, too long, or may continue beyond `until`. */
function numberEnd(from: usize, until: usize): usize {
  let at = from;
  if (load<u8>(at) == 0x2d) at++;
  if (at >= until) return 0;
  if (load<u8>(at) == 0x30) at++;
  else {
    const digits = digitsEnd(at, until);
    if (digits == at) return 0;
    at = digits;
  }
  if (at < until && load<u8>(at) == 0x2e) {
    const fraction = digitsEnd(at + 1, until);
    if (fraction == at + 1) return 0;
    at = fraction;
  }
  if (at < until && (load<u8>(at) | 0x20) == 0x65) {
    at++;
    if (at < until && (load<u8>(at) == 0x2b || load<u8>(at) == 0x2d)) at++;
    const exponent = digitsEnd(at, until);
    if (exponent == at) return 0;
    at = exponent;
  }
  return at < until && at - from < LONG_NUMBER ? at : 0;
}

/** @returns the address after true, false or null; 0: it is none of them. */
function wordEnd(from: usize, until: usize): usize {
  if (from + 4 > until) return 0;
  const four = load<u32>(from);
  if (four == 0x65757274 || four == 0x6c6c756e) return from + 4;
  return from + 5 <= until && load<u8>(from) == 0x66 && load<u32>(from, 1) == 0x65736c61 ? from + 5 : 0;
}

/** Whether a key names a media type: format, mimeType, mime_type, media_type. */
function isMediaKey(start: usize, end: usize): bool {
  const length = end - start;
  if (length == 6) return load<u32>(start) == 0x6d726f66 && load<u16>(start, 4) == 0x7461;
  if (length == 8) return load<u64>(start) == 0x65707954656d696d;
  if (length == 9) return load<u64>(start) == 0x7079745f656d696d && load<u8>(start, 8) == 0x65;
  if (length == 10) return load<u64>(start) == 0x79745f616964656d && load<u16>(start, 8) == 0x6570;
  return false;
}

/** Whether a key may be one of the names that are read: the filter of `spec.ts`. */
function isAsked(start: usize, end: usize, longest: i32, filter: u64): bool {
  const length = <i32>(end - start);
  if (length > longest) return false;
  for (let at = start; at < end; at++) {
    const c = load<u8>(at);
    if (c == 0x5c || c > 0x7f) return true;
  }
  const first = length > 0 ? <u32>load<u8>(start) & 0x1f : 0;
  return ((filter >> <u64>(((<u32>length * 7) ^ first) & 63)) & 1) != 0;
}

function pause(at: usize, phase: i32, depth: i32): usize {
  store<i32>(PHASE, phase);
  store<i32>(DEPTH, depth);
  return at;
}

/**
 * Passes over as much as it can. It closes only objects and arrays that it has opened; the frames of those that are
 * still open are left in the memory. Its results are the phase, how many these are and, if it stopped in front of a
 * string, how far its inside is surely valid.
 * @param phase what is expected at `from`; not a colon, nor the value of a key.
 * @param isObject whether the innermost open value is an object.
 * @param levelsLeft how many further levels may open.
 * @param longest length of the longest key that may be asked for in that object, or in the objects of that array; -1:
 *   none is.
 * @param filter bits of the keys that may be.
 * @returns the address where it stopped: before a token, or in the white space before it.
 */
export function run(
  from: usize,
  until: usize,
  phase: i32,
  isObject: i32,
  levelsLeft: i32,
  longest: i32,
  filterLow: u32,
  filterHigh: u32,
): usize {
  const filter = (<u64>filterHigh << 32) | <u64>filterLow;
  let at = from;
  let depth = 0;
  let frame = FRAMES;
  let inObject = isObject != 0;
  const askedDepth = inObject ? 0 : 1;
  let media = false;
  store<i32>(REACHED, 0);
  store<i32>(frame, isObject);
  store<i32>(frame, 0, KEY_END);
  store<i32>(frame, 0, MEDIA_END);
  while (true) {
    let c: u32 = 0;
    while (at < until) {
      c = load<u8>(at);
      if (c > 0x20 || (c != 0x20 && c != 0x0a && c != 0x0d && c != 0x09)) break;
      at++;
    }
    if (at >= until) break;
    if (phase == AFTER) {
      if (c == 0x2c) {
        at++;
        phase = inObject ? MEMBER : VALUE;
      } else {
        if (depth == 0 || c != (inObject ? <u32>0x7d : <u32>0x5d)) break;
        at++;
        depth--;
        frame -= FRAME_BYTES;
        inObject = load<i32>(frame) != 0;
      }
      continue;
    }
    if (phase <= MEMBER) {
      if (c == 0x22) {
        const end = stringEnd(at + 1, until);
        if (end == 0) break;
        if (depth == askedDepth && longest >= 0 && isAsked(at + 1, end - 1, longest, filter)) break;
        store<i32>(frame, <i32>(at + 1), KEY_START);
        store<i32>(frame, <i32>(end - 1), KEY_END);
        media = isMediaKey(at + 1, end - 1);
        at = end;
        phase = COLON_AFTER_KEY;
        if (at >= until || load<u8>(at) != 0x3a) continue;
        at++;
        phase = VALUE;
        continue;
      }
      if (c != 0x7d || phase != FIRST_MEMBER || depth == 0) break;
      at++;
      depth--;
      frame -= FRAME_BYTES;
      inObject = load<i32>(frame) != 0;
      phase = AFTER;
      continue;
    }
    if (phase == COLON_AFTER_KEY) {
      if (c != 0x3a) break;
      at++;
      phase = VALUE;
      continue;
    }
    let end: usize = 0;
    if (c == 0x22) {
      const last = min(until, at + SHORT_STRING);
      const text = textEnd(at + 1, last);
      if (text >= last || load<u8>(text) != 0x22) {
        store<i32>(REACHED, <i32>text);
        break;
      }
      end = text + 1;
      if (media) {
        store<i32>(frame, <i32>(at + 1), MEDIA_START);
        store<i32>(frame, <i32>(end - 1), MEDIA_END);
      }
    } else if (c - 0x30 < 10 || c == 0x2d) {
      end = numberEnd(at, until);
    } else if (c == 0x7b || c == 0x5b) {
      if (depth >= levelsLeft) break;
      const opensObject = c == 0x7b;
      depth++;
      frame += FRAME_BYTES;
      store<i32>(frame, opensObject ? 1 : 0);
      store<i32>(frame, <i32>at, START);
      store<i32>(frame, 0, KEY_END);
      store<i32>(frame, 0, MEDIA_END);
      inObject = opensObject;
      media = false;
      phase = opensObject ? FIRST_MEMBER : FIRST_ELEMENT;
      at++;
      continue;
    } else if (c == 0x5d && phase == FIRST_ELEMENT && depth > 0) {
      end = at + 1;
      depth--;
      frame -= FRAME_BYTES;
      inObject = load<i32>(frame) != 0;
    } else {
      end = wordEnd(at, until);
    }
    if (end == 0) break;
    at = end;
    media = false;
    phase = AFTER;
  }
  return pause(at, phase, depth);
}
