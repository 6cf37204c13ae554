import type { Found, JsonType, LongString } from '#lib/families/scan';
import { dataUrl, isBase64, isMediaKey, LONG_STRING_BYTES } from '#lib/families/scan/media';
import type { Level, Rule, Spelling } from '#lib/families/scan/spec';
import { spellingOf } from '#lib/families/scan/spec';
import { textOf } from '#lib/families/scan/text';

/** Levels of objects and arrays that a body may have (decisions §4). */
export const MAX_LEVELS = 512;

/** An object or array that is open at the moment. */
interface Frame {
  isObject: boolean;
  start: number;
  /** Names read in this object, or in each object of this array. */
  level: Level | null;
  /** Which field this object or array is the value of. */
  spelling: Spelling | null;
  /** Bits of the guarded names seen. */
  seen: number;
  keyStart: number;
  keyEnd: number;
  /** Field that the current key names. */
  current: Spelling | null;
  mediaStart: number;
  mediaEnd: number;
  firstLong: number;
}

type OpenLongString = { -readonly [K in keyof LongString]: LongString[K] } & { depth: number };

// The pass is synchronous, so one set of frames serves every body.
const frames: Frame[] = Array.from({ length: MAX_LEVELS + 1 }, () => ({
  isObject: false,
  start: 0,
  level: null,
  spelling: null,
  seen: 0,
  keyStart: 0,
  keyEnd: 0,
  current: null,
  mediaStart: 0,
  mediaEnd: 0,
  firstLong: 0,
}));

/** `depth` never leaves 0 … MAX_LEVELS: `open` refuses to. */
function frameAt(depth: number): Frame {
  return frames[depth] as Frame;
}

/** What the pass knows and has found; the grammar itself is in `scan`. */
export class Walk {
  readonly body: Buffer;
  readonly found = new Map<string, Found>();
  readonly nulls = new Map<string, Found>();
  readonly collected: Found[] = [];
  readonly longStrings: OpenLongString[] = [];
  depth = 0;
  frame: Frame = frameAt(0);

  constructor(body: Buffer) {
    this.body = body;
    this.frame.current = null;
    this.frame.level = null;
  }

  /** Enters an object or array. @returns false when that is one level too many. */
  open(isObject: boolean, start: number, root: Level | null): boolean {
    if (this.depth >= MAX_LEVELS) return false;
    const outer = this.frame;
    const frame = frameAt(++this.depth);
    frame.isObject = isObject;
    frame.start = start;
    frame.spelling = outer.current ?? elementOf(outer, isObject);
    frame.level = root ?? levelInside(outer, isObject);
    frame.seen = 0;
    frame.current = null;
    frame.keyStart = 0;
    frame.keyEnd = 0;
    frame.mediaStart = 0;
    frame.mediaEnd = 0;
    frame.firstLong = this.longStrings.length;
    this.frame = frame;
    return true;
  }

  /** Leaves it; `end` is the offset after its bracket. */
  close(end: number, empty: boolean): void {
    const frame = this.frame;
    if (frame.mediaEnd > 0 && this.longStrings.length > frame.firstLong) this.nameMedia(frame);
    this.depth--;
    this.frame = frameAt(this.depth);
    if (frame.spelling !== null) {
      this.record(frame.spelling, frame.isObject ? 'object' : 'array', frame.start, end, null, empty);
    }
  }

  /** A key of the open object, without its quotes. @returns what is wrong with it, or null. */
  key(start: number, end: number): string | null {
    const frame = this.frame;
    frame.keyStart = start;
    frame.keyEnd = end;
    frame.current = null;
    if (frame.level === null) return null;
    const spelling = spellingOf(frame.level, this.body, start, end);
    if (spelling === null) return null;
    const { rule } = spelling;
    if (rule.guarded) {
      const fault = spelling.exact ? twice(frame, rule) : caseFault(spelling);
      if (fault !== null) return fault;
      frame.seen |= rule.bit;
    }
    if (spelling.exact) frame.current = spelling;
    return null;
  }

  /** A string, number, true, false or null. */
  scalar(type: JsonType, start: number, end: number): void {
    const frame = this.frame;
    if (type === 'string') {
      if (end - start > LONG_STRING_BYTES + 2) this.keepLong(start + 1, end - 1);
      else if (frame.keyEnd > 0 && isMediaKey(this.body, frame.keyStart, frame.keyEnd)) {
        frame.mediaStart = start + 1;
        frame.mediaEnd = end - 1;
      }
    }
    const spelling = frame.current;
    if (spelling === null) return;
    let value: Found['value'] = null;
    if (spelling.rule.unread) value = null;
    else if (type === 'string') value = textOf(this.body, start + 1, end - 1);
    else if (type === 'number') value = Number(this.body.toString('latin1', start, end));
    else if (type === 'boolean') value = this.body[start] === 0x74;
    this.record(spelling, type, start, end, value, false);
  }

  private record(
    { rule, text }: Spelling,
    type: JsonType,
    start: number,
    end: number,
    value: Found['value'],
    empty: boolean,
  ): void {
    const found: Found = { path: rule.path, spelling: text, type, value, start, end, empty };
    if (rule.collected) {
      if (type !== 'null') this.collected.push(found);
    } else if (type === 'null') this.nulls.set(rule.path, found);
    else this.found.set(rule.path, found);
  }

  private keepLong(start: number, end: number): void {
    const { keyStart, keyEnd } = this.frame;
    const url = dataUrl(this.body, start, end);
    this.longStrings.push({
      start,
      end,
      key: keyEnd > 0 ? textOf(this.body, keyStart, keyEnd) : '',
      mediaType: url?.mediaType ?? null,
      base64: isBase64(this.body, url?.dataStart ?? start, end),
      depth: this.depth,
    });
  }

  /** The object closes: a sibling that stood before or after its long strings says what they are. */
  private nameMedia(frame: Frame): void {
    for (let i = frame.firstLong; i < this.longStrings.length; i++) {
      const long = this.longStrings[i];
      if (long !== undefined && long.depth === this.depth && long.mediaType === null) {
        long.mediaType = textOf(this.body, frame.mediaStart, frame.mediaEnd).toLowerCase();
      }
    }
  }
}

function levelInside(outer: Frame, isObject: boolean): Level | null {
  if (outer.current !== null) {
    const { members, elements } = outer.current.rule;
    return isObject ? members : elements;
  }
  return isObject && !outer.isObject ? outer.level : null;
}

/** What an object that stands in an array is collected as. */
function elementOf(outer: Frame, isObject: boolean): Spelling | null {
  return isObject && !outer.isObject ? (outer.spelling?.rule.element ?? null) : null;
}

function twice(frame: Frame, rule: Rule): string | null {
  return (frame.seen & rule.bit) === 0 ? null : `field "${rule.path}" stands twice; send it once`;
}

function caseFault({ rule, text }: Spelling): string {
  return `a key differs from field "${rule.path}" only in case; spell it "${text}"`;
}
