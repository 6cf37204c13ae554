import { Collection } from '#lib/core/families/scan/collection';
import { type Frame, MAX_LEVELS, newFrame, outermostFrame } from '#lib/core/families/scan/frame';
import { dataUrl, isMediaKey, MAX_MEDIA_KEY_BYTES, paddingStart } from '#lib/core/families/scan/media';
import {
  IS_OBJECT,
  KEY_END,
  KEY_START,
  MEDIA_END,
  MEDIA_START,
  type QuickScanner,
  START,
} from '#lib/core/families/scan/quick';
import type { Found, JsonType, LongString } from '#lib/core/families/scan/shape';
import type { Level, Rule, Spelling } from '#lib/core/families/scan/spec';
import { spellingOf } from '#lib/core/families/scan/spec';
import { byteAt, type Text, textOf } from '#lib/core/families/scan/text';

/** Largest value that is read, bytes; the same limit as for a text part of a multipart body. */
const MAX_VALUE_BYTES = 64 * 1024;

type OpenLongString = { -readonly [K in keyof LongString]: LongString[K] } & {
  readonly depth: number;
  /** Start of the bytes that may be base64: after the comma of a data URL. */
  readonly dataStart: number;
};

/** The state and findings of one pass; the grammar is in `read`. */
export class Walk {
  readonly text: Text;
  readonly found = new Map<string, Found>();
  readonly nulls = new Map<string, Found>();
  readonly collection = new Collection();
  readonly longStrings: OpenLongString[] = [];
  depth = 0;
  frame: Frame;
  private lastKey = { start: 0, end: 0, text: '' };

  /**
   * @param root the names that are read in the root object.
   * @param interrupted whether other passes may run before this one has ended.
   */
  constructor(body: Buffer, root: Level, interrupted: boolean) {
    const view = new DataView(body.buffer, body.byteOffset, body.length);
    this.text = { bytes: body, view, quick: null };
    this.frame = outermostFrame(interrupted);
    this.frame.level = root;
  }

  /** Enters an object or array. @returns false when that is one level too many. */
  open(isObject: boolean, start: number): boolean {
    if (this.depth >= MAX_LEVELS) return false;
    const outer = this.frame;
    outer.inner ??= newFrame(outer);
    const frame = outer.inner;
    frame.isObject = isObject;
    frame.start = start;
    frame.spelling = null;
    frame.level = null;
    if (outer.current !== null) {
      frame.spelling = outer.current;
      frame.level = isObject ? outer.current.rule.members : outer.current.rule.elements;
    } else if (isObject && !outer.isObject) {
      frame.spelling = outer.spelling?.rule.element ?? null;
      frame.level = outer.level;
    }
    frame.seen = 0;
    frame.current = null;
    frame.keyEnd = 0;
    frame.mediaEnd = 0;
    if (frame.spelling !== null) frame.firstKept = this.collection.kept.length;
    this.frame = frame;
    this.depth++;
    return true;
  }

  /** Takes over what a run has read of the keys of the open object, and what it has opened and not closed. */
  adopt(quick: QuickScanner): void {
    if (quick.hasKey) this.frame.current = null;
    for (let level = 0; level <= quick.depth; level++) {
      if (level > 0) this.open(quick.number(level, IS_OBJECT) !== 0, quick.number(level, START));
      const { frame } = this;
      const keyEnd = quick.number(level, KEY_END);
      if (keyEnd === 0) continue;
      frame.keyStart = quick.number(level, KEY_START);
      frame.keyEnd = keyEnd;
      const mediaEnd = quick.number(level, MEDIA_END);
      if (mediaEnd === 0) continue;
      frame.mediaStart = quick.number(level, MEDIA_START);
      frame.mediaEnd = mediaEnd;
    }
  }

  /** Leaves it; `end` is the offset after its bracket. @returns what is wrong with it, or null. */
  close(end: number, empty: boolean): string | null {
    const frame = this.frame;
    if (frame.mediaEnd > 0) this.nameMedia(frame);
    this.depth--;
    this.frame = frame.outer ?? frame;
    return frame.spelling === null ? null : this.container(frame, frame.spelling, end, empty);
  }

  /** An object or array that is the value of a field, or an element that is collected. */
  private container(frame: Frame, { rule, text }: Spelling, end: number, empty: boolean): string | null {
    const { keep, collected, members, elements } = rule;
    if (keep !== null) {
      if (!this.collection.prune(frame.firstKept, keep)) return null;
    } else if (collected && (members !== null || elements !== null)) {
      // Of collected fields only the leaves are kept.
      return null;
    }
    const type = frame.isObject ? 'object' : 'array';
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
    const spelling = spellingOf(frame.level, this.text.bytes, start, end);
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

  /**
   * A string, with its quotes.
   * @param base64 where the base64 in a string of over 1 KiB ends; -1: a shorter string.
   * @returns what is wrong with it, or null.
   */
  string(start: number, end: number, base64: number): string | null {
    const frame = this.frame;
    if (base64 >= 0) this.closeLong(end - 1, base64);
    else if (frame.keyEnd > 0 && isMediaKey(this.text.bytes, frame.keyStart, frame.keyEnd)) {
      frame.mediaStart = start + 1;
      frame.mediaEnd = end - 1;
    }
    return this.scalar('string', start, end);
  }

  /** A string, number, true, false or null. @returns what is wrong with it, or null. */
  scalar(type: JsonType, start: number, end: number): string | null {
    const { current, isObject, spelling } = this.frame;
    if (current !== null) return this.field(current, type, start, end);
    if (isObject || spelling === null || spelling.rule.listed === null) return null;
    return this.field(spelling.rule.listed, type, start, end);
  }

  /** The value of a field that is read. */
  private field({ rule, text }: Spelling, type: JsonType, start: number, end: number): string | null {
    // Text in place of a list, such as the content of a message, names nothing that is collected.
    if (rule.collected && rule.elements !== null) return null;
    let value: Found['value'] = null;
    if (!rule.unread) {
      if (end - start > MAX_VALUE_BYTES) {
        // Where an object or array is expected, a string is a prompt or an image, which is never read.
        if (rule.members === null && rule.elements === null) {
          return `field "${rule.path}" is over ${MAX_VALUE_BYTES / 1024} KiB; send a shorter value`;
        }
      } else if (type === 'string') value = textOf(this.text.bytes, start + 1, end - 1);
      else if (type === 'number') value = Number(this.text.bytes.toString('latin1', start, end));
      else if (type === 'boolean') value = this.text.bytes[start] === 0x74;
    }
    if (rule.only !== null && (typeof value !== 'string' || !rule.only.test(value))) return null;
    if (rule.collected && type === 'null') return null;
    return this.record(rule, { path: rule.path, spelling: text, type, value, start, end, empty: false });
  }

  private record(rule: Rule, found: Found): string | null {
    if (rule.collected) return this.collection.add(found);
    if (found.type === 'null') this.nulls.set(rule.path, found);
    else this.found.set(rule.path, found);
    return null;
  }

  /**
   * Notes a string that is longer than 1 KiB, before its end is known.
   * @param start the offset after its quote.
   * @returns where base64 would start in it: after the comma of a data URL.
   */
  openLong(start: number): number {
    const { bytes } = this.text;
    const { keyStart, keyEnd } = this.frame;
    const url = dataUrl(bytes, start);
    const named = keyEnd > 0 && keyEnd - keyStart <= MAX_MEDIA_KEY_BYTES;
    const dataStart = url?.dataStart ?? start;
    this.longStrings.push({
      start,
      end: start,
      key: named ? this.keyText(keyStart, keyEnd) : '',
      mediaType: url?.mediaType ?? null,
      base64: false,
      depth: this.depth,
      dataStart,
    });
    return dataStart;
  }

  /** The text of a key: nearly always the same as that of the last long string, and decoding costs more than comparing. */
  private keyText(start: number, end: number): string {
    const { bytes } = this.text;
    const { lastKey } = this;
    if (end - start === lastKey.end - lastKey.start) {
      let at = start;
      while (at < end && byteAt(bytes, at) === byteAt(bytes, lastKey.start + at - start)) at++;
      if (at === end) return lastKey.text;
    }
    this.lastKey = { start, end, text: textOf(bytes, start, end) };
    return this.lastKey.text;
  }

  /** @param base64 where the base64 in it ends. */
  private closeLong(end: number, base64: number): void {
    const long = this.longStrings.at(-1);
    if (!long) return;
    long.end = end;
    long.base64 = base64 > long.dataStart && base64 === paddingStart(this.text.bytes, long.dataStart, end);
  }

  /** Called at the end of an object: a sibling of its long strings names their media type. */
  private nameMedia(frame: Frame): void {
    for (let i = this.longStrings.length - 1; i >= 0; i--) {
      const long = this.longStrings[i];
      if (long === undefined || long.start < frame.start) return;
      if (long.depth === this.depth && long.mediaType === null) {
        long.mediaType = textOf(this.text.bytes, frame.mediaStart, frame.mediaEnd).toLowerCase();
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
