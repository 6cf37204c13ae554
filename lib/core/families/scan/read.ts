import { broken, brokenString, unfit } from '#lib/core/families/scan/faults';
import { MAX_LEVELS } from '#lib/core/families/scan/frame';
import { base64End, LONG_STRING_BYTES } from '#lib/core/families/scan/media';
import type { QuickScanner } from '#lib/core/families/scan/quick';
import type { ScanFault } from '#lib/core/families/scan/shape';
import { byteAt, isDigit, numberEnd, skipSpace, stringEnd } from '#lib/core/families/scan/text';
import type { Walk } from '#lib/core/families/scan/walk';

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const literals = { 116: ['true', 'boolean'], 102: ['false', 'boolean'], 110: ['null', 'null'] } as const;

/** Longest number accepted, bytes: numbers are not read in slices. */
const MAX_NUMBER_BYTES = 64 * 1024;

/** A run over fewer bytes costs as much as reading them here. */
const SHORT_RUN = 16;
const MOST_PAUSE = 255;
const NEVER = 0x3fffffff;

/** What is expected at the next offset, in the order of a member of an object. */
const FIRST_MEMBER = 0; // a key, or the closing bracket
const MEMBER = 1; // a key
const COLON_AFTER_KEY = 2;
const VALUE = 3;
const FIRST_ELEMENT = 4; // a value, or the closing bracket
const AFTER = 5; // a comma or the closing bracket

/** The parser; it can be suspended between tokens, and inside strings and white space. */
export class Reading {
  readonly #walk: Walk;
  readonly #quick: QuickScanner | null;
  #pos: number;
  #phase = FIRST_MEMBER;
  /** Start of the key or string inside which it is suspended; -1: it is not inside one. */
  #token = -1;
  /** How far a string of over 1 KiB is base64; -1: no such string is being read. */
  #base64 = -1;
  #pause = 0;
  /** Whether the root object has no member; set at its end. */
  empty = false;

  /**
   * @param from the offset after the bracket that opens the root.
   * @param quick passes over what is not read; null: the parser does that too.
   */
  constructor(walk: Walk, from: number, quick: QuickScanner | null) {
    this.#walk = walk;
    this.#quick = quick;
    this.#pos = from;
  }

  /** The offset at which `advance` continues. */
  get pos(): number {
    return this.#pos;
  }

  /**
   * Continues parsing, without recursion. Each turn of the loop reads a key, a colon, or a value and what follows it; what
   * happens rarely is in methods of its own, because the compiler does worse with a larger loop.
   * @param until where to pause at the latest, at most the body's length.
   * @returns the offset after the root; -1 when it paused; or what is wrong.
   */
  advance(until: number): number | ScanFault {
    const walk = this.#walk;
    const { text } = walk;
    const body = text.bytes;
    const { length } = body;
    let pos = this.#pos;
    let phase = this.#phase;
    let { frame } = walk;
    const quick = this.#quick?.load(body, pos, until) ? this.#quick : null;
    text.quick = quick;
    /** How many further tokens are read here before the next run. */
    let rest = quick === null ? NEVER : 0;
    if (this.#token >= 0) {
      const end = phase === MEMBER ? this.#restOfKey(until) : this.#restOfString(until);
      if (typeof end !== 'number' || end < 0) return end;
      pos = end;
      phase = phase === MEMBER ? COLON_AFTER_KEY : AFTER;
    }
    for (;;) {
      if (rest > 0) rest--;
      else if (phase !== COLON_AFTER_KEY && (phase !== VALUE || !frame.isObject)) {
        const end = this.#run(pos, phase);
        rest = this.#pauseAfter(end - pos);
        pos = end;
        phase = this.#phase;
        frame = walk.frame;
      }
      if (pos < until && byteAt(body, pos) <= SPACE) pos = skipSpace(body, pos, until);
      if (pos >= until) {
        if (until === length) return this.#unexpected(pos, phase);
        this.#pos = pos;
        this.#phase = phase;
        return -1;
      }
      let c = byteAt(body, pos);
      if (phase !== AFTER) {
        if (phase === VALUE || phase === FIRST_ELEMENT) {
          if (c === QUOTE) {
            const longFrom = pos + LONG_STRING_BYTES + 2;
            const reached = quick === null ? 0 : quick.reached;
            const end = stringEnd(text, reached > pos ? reached : pos + 1, Math.min(until, longFrom));
            if (end > 0 && end <= length) {
              const fault = walk.string(pos, end, -1);
              if (fault !== null) return unfit(pos, fault);
              pos = end;
            } else {
              const cut = this.#interrupt(VALUE, pos, end);
              if (typeof cut !== 'number' || longFrom >= until) return cut;
              const after = this.#restOfString(until);
              if (typeof after !== 'number' || after < 0) return after;
              pos = after;
            }
          } else if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
            if (!walk.open(c === OPEN_OBJECT, pos)) {
              return {
                fault: `The body is nested deeper than ${MAX_LEVELS} levels at byte ${pos}; flatten it.`,
              };
            }
            frame = walk.frame;
            pos++;
            phase = c === OPEN_OBJECT ? FIRST_MEMBER : FIRST_ELEMENT;
            continue;
          } else if (c === MINUS || isDigit(c)) {
            const end = numberEnd(body, pos, pos + MAX_NUMBER_BYTES);
            if (end < 0) return broken(body, ~end, 'a digit of the number is expected here');
            if (end - pos >= MAX_NUMBER_BYTES) {
              return unfit(pos, 'a number is over 64 KiB long; send fewer digits');
            }
            // Most numbers are not read: the call alone would cost as much as finding the end.
            if (frame.current !== null) {
              const fault = walk.scalar('number', pos, end);
              if (fault !== null) return unfit(pos, fault);
            }
            pos = end;
          } else if (c === CLOSE_ARRAY && phase === FIRST_ELEMENT) {
            const fault = walk.close(pos + 1, true);
            if (fault !== null) return unfit(pos, fault);
            pos++;
            frame = walk.frame;
          } else {
            const end = this.#word(pos, phase);
            if (typeof end !== 'number') return end;
            pos = end;
          }
        } else if (phase === COLON_AFTER_KEY) {
          if (c !== COLON) return this.#unexpected(pos, phase);
          pos++;
          phase = VALUE;
          continue;
        } else if (c === QUOTE) {
          const end = stringEnd(text, pos + 1, until);
          if (end < 0 || end > length) return this.#interrupt(MEMBER, pos, end);
          const fault = walk.key(pos + 1, end - 1);
          if (fault !== null) return unfit(pos, fault);
          pos = end;
          phase = COLON_AFTER_KEY;
          // Most encoders write the colon right after the key.
          if (pos < until && byteAt(body, pos) === COLON) {
            pos++;
            phase = VALUE;
          }
          continue;
        } else {
          if (c !== CLOSE_OBJECT || phase !== FIRST_MEMBER) return this.#unexpected(pos, phase);
          const fault = walk.close(pos + 1, true);
          if (fault !== null) return unfit(pos, fault);
          pos++;
          if (walk.depth === 0) {
            this.empty = true;
            return pos;
          }
          frame = walk.frame;
        }
        phase = AFTER;
        if (pos >= until) continue;
        c = byteAt(body, pos);
        if (c <= SPACE) continue;
      }
      if (c === COMMA) {
        pos++;
        phase = frame.isObject ? MEMBER : VALUE;
        continue;
      }
      if (c !== (frame.isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) return this.#unexpected(pos, phase);
      const fault = walk.close(pos + 1, false);
      if (fault !== null) return unfit(pos, fault);
      pos++;
      if (walk.depth === 0) return pos;
      frame = walk.frame;
    }
  }

  /** Passes over what is not read, and notes the phase. @returns where it stopped. */
  #run(pos: number, phase: number): number {
    const walk = this.#walk;
    const { quick } = walk.text;
    if (quick === null) return pos;
    const end = quick.run(pos, phase, walk.frame, MAX_LEVELS - walk.depth);
    this.#phase = quick.phase;
    if (quick.hasKey || quick.depth > 0) walk.adopt(quick);
    return end;
  }

  /** Tokens to be read here after a run over so many bytes: more after each that was hardly worth while. */
  #pauseAfter(bytes: number): number {
    this.#pause = bytes < SHORT_RUN ? Math.min(2 * this.#pause + 1, MOST_PAUSE) : 0;
    return this.#pause;
  }

  /**
   * Notes where to go on in a key or string.
   * @param end what `stringEnd` says of it.
   * @returns -1; or what is wrong.
   */
  #interrupt(phase: number, token: number, end: number): number | ScanFault {
    const body = this.#walk.text.bytes;
    if (end < 0) return brokenString(body, ~end);
    this.#phase = phase;
    this.#token = token;
    this.#pos = end - body.length;
    return -1;
  }

  /** @returns the offset after the key; -1 when it paused again; or what is wrong. */
  #restOfKey(until: number): number | ScanFault {
    const { text } = this.#walk;
    const start = this.#token;
    const end = stringEnd(text, this.#pos, until);
    if (end < 0 || end > text.bytes.length) return this.#interrupt(MEMBER, start, end);
    const fault = this.#walk.key(start + 1, end - 1);
    if (fault !== null) return unfit(start, fault);
    this.#token = -1;
    return end;
  }

  /** As `#restOfKey`. A string of over 1 KiB is examined on the way: it may be base64. */
  #restOfString(until: number): number | ScanFault {
    const walk = this.#walk;
    const { text } = walk;
    const { length } = text.bytes;
    const start = this.#token;
    const longFrom = start + LONG_STRING_BYTES + 2;
    let end = length + this.#pos;
    if (this.#base64 < 0) {
      end = stringEnd(text, this.#pos, Math.min(until, longFrom));
      if (longFrom < until && end > length) this.#base64 = walk.openLong(start + 1);
    }
    if (this.#base64 >= 0) {
      this.#base64 = base64End(text, this.#base64, until);
      end = stringEnd(text, Math.max(end - length, this.#base64), until);
    }
    if (end < 0 || end > length) return this.#interrupt(VALUE, start, end);
    const fault = walk.string(start, end, this.#base64);
    if (fault !== null) return unfit(start, fault);
    this.#token = -1;
    this.#base64 = -1;
    return end;
  }

  /** True, false or null. @returns the offset after it. */
  #word(pos: number, phase: number): number | ScanFault {
    const walk = this.#walk;
    const body = walk.text.bytes;
    const c = body[pos];
    if (c !== 0x74 && c !== 0x66 && c !== 0x6e) return this.#unexpected(pos, phase);
    const [word, type] = literals[c];
    for (let i = 0; i < word.length; i++) {
      if (body[pos + i] !== word.charCodeAt(i)) return broken(body, pos + i, `"${word}" is misspelled here`);
    }
    const end = pos + word.length;
    const fault = walk.scalar(type, pos, end);
    return fault === null ? end : unfit(pos, fault);
  }

  #unexpected(pos: number, phase: number): ScanFault {
    const { text, frame } = this.#walk;
    return broken(text.bytes, pos, expected(phase, frame.isObject));
  }
}

function expected(phase: number, isObject: boolean): string {
  if (phase === AFTER) return `a comma or "${isObject ? '}' : ']'}" is expected here`;
  if (phase === COLON_AFTER_KEY) return 'a colon must follow the key';
  return phase === MEMBER || phase === FIRST_MEMBER
    ? 'a quoted key is expected here'
    : 'a value is expected here';
}
