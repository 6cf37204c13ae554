import type { Edit } from '#lib/core/families/family';
import { byteAt, skipSpace, textOf } from '#lib/core/families/scan/text';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Bytes [start, end) of a body. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** A member of an object: the range has its name and its value. */
export interface Member extends Range {
  readonly name: string;
  readonly value: Located;
}

/** A value and its place in a body that a scan has accepted. What is inside is only read when it is asked for. */
export class Located implements Range {
  readonly start: number;
  readonly end: number;
  readonly #body: Buffer;

  constructor(body: Buffer, start: number, end: number) {
    this.#body = body;
    this.start = start;
    this.end = end;
  }

  /** Whether the text occurs anywhere in its bytes. */
  has(text: string): boolean {
    return this.#body.subarray(this.start, this.end).includes(text);
  }

  parse(): unknown {
    return JSON.parse(this.#body.toString('utf8', this.start, this.end));
  }

  /** Of an array; other values have none. */
  elements(): readonly Located[] {
    const elements: Located[] = [];
    if (this.#body[this.start] !== OPEN_ARRAY) return elements;
    for (let at = this.#firstInside(); at < this.end - 1; at = this.#next(elements)) {
      elements.push(new Located(this.#body, at, valueEnd(this.#body, at)));
    }
    return elements;
  }

  /** Of an object; other values have none. */
  members(): readonly Member[] {
    const members: Member[] = [];
    if (this.#body[this.start] !== OPEN_OBJECT) return members;
    for (let at = this.#firstInside(); at < this.end - 1; at = this.#next(members)) {
      const nameEnd = valueEnd(this.#body, at);
      const from = skipSpace(this.#body, skipSpace(this.#body, nameEnd, this.end) + 1, this.end);
      const end = valueEnd(this.#body, from);
      const name = textOf(this.#body, at + 1, nameEnd - 1);
      members.push({ start: at, end, name, value: new Located(this.#body, from, end) });
    }
    return members;
  }

  /** The member of an object; the last one, as for every parser, if its name occurs twice. */
  get(name: string): Located | undefined {
    return this.members().findLast((member) => member.name === name)?.value;
  }

  #firstInside(): number {
    return skipSpace(this.#body, this.start + 1, this.end);
  }

  #next(entries: readonly Range[]): number {
    const after = skipSpace(this.#body, entries.at(-1)?.end ?? this.end, this.end);
    return this.#body[after] === COMMA ? skipSpace(this.#body, after + 1, this.end) : after;
  }
}

/** Removes some of the elements of an array, or members of an object, with their commas. @param entries all of them. */
export function removeEntries<Entry extends Range>(
  entries: readonly Entry[],
  isRemoved: (entry: Entry) => boolean,
): Edit[] {
  const edits: Edit[] = [];
  const close = (start: number, end: number) => edits.push({ start, end, text: '' });
  /** The newest entry that stays. */
  let kept: Entry | null = null;
  /** The first and the last entry since then, all of which are removed. */
  let first: Entry | null = null;
  let last: Entry | null = null;
  for (const entry of entries) {
    if (isRemoved(entry)) {
      first ??= entry;
      last = entry;
      continue;
    }
    // Behind an entry that stays, the comma before the others goes with them; before the first one, the comma behind.
    if (first && last) close(kept ? kept.end : first.start, kept ? last.end : entry.start);
    first = null;
    kept = entry;
  }
  if (first && last) close(kept ? kept.end : first.start, last.end);
  return edits;
}

/** @returns the offset after the value that starts at `start`. */
function valueEnd(body: Buffer, start: number): number {
  let depth = 0;
  let at = start;
  for (;;) {
    const c = byteAt(body, at);
    if (c === QUOTE) at = stringEnd(body, at);
    else {
      if (c === OPEN_ARRAY || c === OPEN_OBJECT) depth++;
      else if (c === CLOSE_ARRAY || c === CLOSE_OBJECT) depth--;
      else if (depth === 0) return scalarEnd(body, at);
      at++;
    }
    if (depth === 0) return at;
  }
}

/** Of a string, found by native search: a picture has many megabytes. @param start its opening quote. */
function stringEnd(body: Buffer, start: number): number {
  for (let close = body.indexOf(QUOTE, start + 1); ; close = body.indexOf(QUOTE, close + 1)) {
    let escapes = close;
    while (body[escapes - 1] === BACKSLASH) escapes--;
    // An even number of backslashes are escaped themselves, and do not escape the quote.
    if ((close - escapes) % 2 === 0) return close + 1;
  }
}

/** Of a number, true, false or null: white space, a comma or a bracket is behind it. */
function scalarEnd(body: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const c = byteAt(body, at);
    if (c <= 0x20 || c === COMMA || c === CLOSE_ARRAY || c === CLOSE_OBJECT) return at;
    at++;
  }
}
