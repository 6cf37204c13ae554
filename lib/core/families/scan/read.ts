import { broken, brokenString, unfit } from '#lib/core/families/scan/faults';
import { MAX_LEVELS } from '#lib/core/families/scan/frame';
import { LONG_STRING_BYTES, paddingStart, readBase64 } from '#lib/core/families/scan/media';
import type { ScanFault } from '#lib/core/families/scan/shape';
import { numberEnd, skipSpace, stringEnd } from '#lib/core/families/scan/text';
import type { Walk } from '#lib/core/families/scan/walk';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const literals = { 116: ['true', 'boolean'], 102: ['false', 'boolean'], 110: ['null', 'null'] } as const;

/** Longest number accepted, bytes: numbers are not read in slices. */
const MAX_NUMBER_BYTES = 64 * 1024;

/** What is expected at the next offset, in the order of a member of an object. */
const FIRST = 0; // the first member or element, or the closing bracket
const MEMBER = 1; // a member or element
const COLON_AFTER_KEY = 2;
const VALUE = 3;
const BASE64 = 4; // checking whether the long string just read is base64
const AFTER = 5; // a comma or the closing bracket

/** The parser; it can be suspended between tokens, and inside strings and white space. */
export class Reading {
  readonly #walk: Walk;
  #pos: number;
  #phase = FIRST;
  /** Start of the string being read, or its end while it is checked for base64; -1: none. */
  #token = -1;
  /** Whether the root object has no member; set at its end. */
  empty = false;

  /** @param from the offset after the bracket that opens the root. */
  constructor(walk: Walk, from: number) {
    this.#walk = walk;
    this.#pos = from;
  }

  /** The offset at which `advance` continues. */
  get pos(): number {
    return this.#pos;
  }

  /**
   * Continues parsing, without recursion.
   * @param pauseAt where to pause at the latest, at most the body's length.
   * @returns the offset after the root; -1 when it paused; or what is wrong.
   */
  advance(pauseAt: number): number | ScanFault {
    const walk = this.#walk;
    const { body } = walk;
    const { length } = body;
    const sliceBytes = pauseAt - this.#pos;
    let until = pauseAt;
    let pos = this.#pos;
    let phase = this.#phase;
    let token = this.#token;
    for (;;) {
      if (token < 0) pos = skipSpace(body, pos, until);
      if (until < length && pos >= until) {
        this.#pos = pos;
        this.#phase = phase;
        this.#token = token;
        return -1;
      }
      if (phase === AFTER) {
        const c = body[pos];
        if (c === COMMA) {
          phase = walk.frame.isObject ? MEMBER : VALUE;
        } else {
          if (c !== (walk.frame.isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
            return broken(body, pos, `a comma or "${walk.frame.isObject ? '}' : ']'}" is expected here`);
          }
          const fault = walk.close(pos + 1, false);
          if (fault !== null) return unfit(pos, fault);
          if (walk.depth === 0) return pos + 1;
        }
        pos++;
        continue;
      }
      if (phase === FIRST) {
        if (body[pos] === (walk.frame.isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
          const fault = walk.close(pos + 1, true);
          if (fault !== null) return unfit(pos, fault);
          if (walk.depth === 0) {
            this.empty = true;
            return pos + 1;
          }
          pos++;
          phase = AFTER;
          continue;
        }
        phase = walk.frame.isObject ? MEMBER : VALUE;
      }
      if (phase === MEMBER) {
        if (token < 0) {
          if (body[pos] !== QUOTE) return broken(body, pos, 'a quoted key is expected here');
          token = pos++;
        }
        const end = stringEnd(body, pos, until);
        if (end < 0) return brokenString(body, ~end);
        if (end > length) {
          pos = end - length;
          continue;
        }
        const fault = walk.key(token + 1, end - 1);
        if (fault !== null) return unfit(token, fault);
        token = -1;
        // Most encoders write the colon right after the key.
        phase = body[end] === COLON ? VALUE : COLON_AFTER_KEY;
        pos = phase === VALUE ? end + 1 : end;
        continue;
      }
      if (phase === COLON_AFTER_KEY) {
        if (body[pos] !== COLON) return broken(body, pos, 'a colon must follow the key');
        pos++;
        phase = VALUE;
        continue;
      }
      if (phase === BASE64) {
        pos = this.#base64(pos, until);
        if (pos < token) continue;
        pos = token;
        token = -1;
        phase = AFTER;
        continue;
      }
      const c = token < 0 ? body[pos] : QUOTE;
      if (c === QUOTE) {
        if (token < 0) token = pos++;
        const end = stringEnd(body, pos, until);
        if (end < 0) return brokenString(body, ~end);
        if (end > length) {
          pos = end - length;
          continue;
        }
        const fault = walk.scalar('string', token, end);
        if (fault !== null) return unfit(token, fault);
        if (end - token > LONG_STRING_BYTES + 2) {
          // From here on `token` is the end of the string.
          pos = walk.longStrings.at(-1)?.dataStart ?? end;
          token = end;
          phase = BASE64;
          // A string longer than a slice is read a second time in its own slices.
          if (end - pos > sliceBytes) until = pos;
          continue;
        }
        token = -1;
        pos = end;
        phase = AFTER;
        continue;
      }
      if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
        if (!walk.open(c === OPEN_OBJECT, pos, null)) {
          return { fault: `The body is nested deeper than ${MAX_LEVELS} levels at byte ${pos}; flatten it.` };
        }
        pos++;
        phase = FIRST;
        continue;
      }
      const end = readPlain(walk, pos, c);
      if (typeof end !== 'number') return end;
      pos = end;
      phase = AFTER;
    }
  }

  /** Checks the newest long string for base64, up to `until`. @returns the offset to continue at. */
  #base64(pos: number, until: number): number {
    const { body, longStrings } = this.#walk;
    const long = longStrings.at(-1);
    if (!long) return body.length;
    const last = paddingStart(body, long.dataStart, long.end);
    const reached = readBase64(body, pos, Math.min(last, until));
    if (reached >= 0 && reached < last) return reached;
    long.base64 = reached >= 0 && last > long.dataStart;
    return body.length;
  }
}

/** A number, true, false or null. @returns the offset after it. */
function readPlain(walk: Walk, pos: number, c: number | undefined): number | ScanFault {
  const { body } = walk;
  if (c === 0x2d || (c !== undefined && c >= 0x30 && c <= 0x39)) {
    const end = numberEnd(body, pos, pos + MAX_NUMBER_BYTES);
    if (end < 0) return broken(body, ~end, 'a digit of the number is expected here');
    if (end - pos >= MAX_NUMBER_BYTES) return unfit(pos, 'a number is over 64 KiB long; send fewer digits');
    const fault = walk.scalar('number', pos, end);
    return fault === null ? end : unfit(pos, fault);
  }
  if (c === 0x74 || c === 0x66 || c === 0x6e) {
    const [word, type] = literals[c];
    for (let i = 0; i < word.length; i++) {
      if (body[pos + i] !== word.charCodeAt(i)) return broken(body, pos + i, `"${word}" is misspelled here`);
    }
    const end = pos + word.length;
    const fault = walk.scalar(type, pos, end);
    return fault === null ? end : unfit(pos, fault);
  }
  return broken(body, pos, 'a value is expected here');
}
