import { Collection } from '#lib/core/families/scan/collection';
import {
  elementOf,
  type Frame,
  frameAt,
  framesFor,
  levelInside,
  MAX_LEVELS,
} from '#lib/core/families/scan/frame';
import { dataUrl, isMediaKey, LONG_STRING_BYTES, MAX_MEDIA_KEY_BYTES } from '#lib/core/families/scan/media';
import type { Found, JsonType, LongString } from '#lib/core/families/scan/shape';
import type { Level, Rule, Spelling } from '#lib/core/families/scan/spec';
import { spellingOf } from '#lib/core/families/scan/spec';
import { textOf } from '#lib/core/families/scan/text';

/** Largest value that is read, bytes; the same limit as for a text part of a multipart body. */
const MAX_VALUE_BYTES = 64 * 1024;

type OpenLongString = { -readonly [K in keyof LongString]: LongString[K] } & {
  readonly depth: number;
  /** Start of the bytes that may be base64: after the comma of a data URL. */
  readonly dataStart: number;
};

/** The state and findings of one pass; the grammar is in `read`. */
export class Walk {
  readonly body: Buffer;
  readonly found = new Map<string, Found>();
  readonly nulls = new Map<string, Found>();
  readonly collection = new Collection();
  readonly longStrings: OpenLongString[] = [];
  depth = 0;
  frame: Frame;
  readonly #frames: Frame[];

  /** @param interrupted whether other passes may run before this one has ended. */
  constructor(body: Buffer, interrupted: boolean) {
    this.body = body;
    this.#frames = framesFor(interrupted);
    this.frame = frameAt(this.#frames, 0);
    this.frame.current = null;
    this.frame.level = null;
  }

  /** Enters an object or array. @returns false when that is one level too many. */
  open(isObject: boolean, start: number, root: Level | null): boolean {
    if (this.depth >= MAX_LEVELS) return false;
    const outer = this.frame;
    const frame = frameAt(this.#frames, ++this.depth);
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
    frame.firstKept = this.collection.kept.length;
    this.frame = frame;
    return true;
  }

  /** Leaves it; `end` is the offset after its bracket. @returns what is wrong with it, or null. */
  close(end: number, empty: boolean): string | null {
    const frame = this.frame;
    if (frame.mediaEnd > 0 && this.longStrings.length > frame.firstLong) this.nameMedia(frame);
    this.depth--;
    this.frame = frameAt(this.#frames, this.depth);
    const { spelling } = frame;
    if (spelling === null) return null;
    const { keep, collected, members, elements } = spelling.rule;
    if (keep !== null) {
      if (!this.collection.prune(frame.firstKept, keep)) return null;
    } else if (collected && (members !== null || elements !== null)) {
      // Of collected fields only the leaves are kept.
      return null;
    }
    const type = frame.isObject ? 'object' : 'array';
    const { rule, text } = spelling;
    const { start } = frame;
    return this.record(rule, { path: rule.path, spelling: text, type, value: null, start, end, empty });
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

  /** A string, number, true, false or null. @returns what is wrong with it, or null. */
  scalar(type: JsonType, start: number, end: number): string | null {
    const frame = this.frame;
    if (type === 'string') {
      if (end - start > LONG_STRING_BYTES + 2) this.keepLong(start + 1, end - 1);
      else if (frame.keyEnd > 0 && isMediaKey(this.body, frame.keyStart, frame.keyEnd)) {
        frame.mediaStart = start + 1;
        frame.mediaEnd = end - 1;
      }
    }
    const spelling = frame.current;
    if (spelling === null) return null;
    const { rule } = spelling;
    let value: Found['value'] = null;
    if (!rule.unread) {
      if (end - start > MAX_VALUE_BYTES) {
        // Where an object or array is expected, a string is a prompt or an image, which is never read.
        if (rule.members === null && rule.elements === null) {
          return `field "${rule.path}" is over ${MAX_VALUE_BYTES / 1024} KiB; send a shorter value`;
        }
      } else if (type === 'string') value = textOf(this.body, start + 1, end - 1);
      else if (type === 'number') value = Number(this.body.toString('latin1', start, end));
      else if (type === 'boolean') value = this.body[start] === 0x74;
    }
    if (rule.only !== null && (typeof value !== 'string' || !rule.only.test(value))) return null;
    if (rule.collected && type === 'null') return null;
    const { text } = spelling;
    return this.record(rule, { path: rule.path, spelling: text, type, value, start, end, empty: false });
  }

  private record(rule: Rule, found: Found): string | null {
    if (rule.collected) return this.collection.add(found);
    if (found.type === 'null') this.nulls.set(rule.path, found);
    else this.found.set(rule.path, found);
    return null;
  }

  /** Notes a long string; whether it is base64 is checked afterwards, in slices. */
  private keepLong(start: number, end: number): void {
    const { keyStart, keyEnd } = this.frame;
    const url = dataUrl(this.body, start, end);
    const named = keyEnd > 0 && keyEnd - keyStart <= MAX_MEDIA_KEY_BYTES;
    this.longStrings.push({
      start,
      end,
      key: named ? textOf(this.body, keyStart, keyEnd) : '',
      mediaType: url?.mediaType ?? null,
      base64: false,
      depth: this.depth,
      dataStart: url?.dataStart ?? start,
    });
  }

  /** Called at the end of an object: a sibling of its long strings names their media type. */
  private nameMedia(frame: Frame): void {
    for (let i = frame.firstLong; i < this.longStrings.length; i++) {
      const long = this.longStrings[i];
      if (long !== undefined && long.depth === this.depth && long.mediaType === null) {
        long.mediaType = textOf(this.body, frame.mediaStart, frame.mediaEnd).toLowerCase();
      }
    }
  }
}

function twice(frame: Frame, rule: Rule): string | null {
  return (frame.seen & rule.bit) === 0 ? null : `field "${rule.path}" occurs twice; send it once`;
}

function caseFault({ rule, text }: Spelling): string {
  return `a key differs from field "${rule.path}" only in case; spell it "${text}"`;
}
