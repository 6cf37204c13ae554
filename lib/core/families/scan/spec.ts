import type { FieldRule, FieldSpec, Found } from '#lib/core/families/scan/shape';
import { byteAt, textOf } from '#lib/core/families/scan/text';

/** A field of a spec, ready for the pass. */
export interface Rule {
  readonly name: string;
  /** Canonical path: "stream_options.include_usage", "tools[].type". */
  readonly path: string;
  /** One bit of an object's mask of names already seen. */
  readonly bit: number;
  readonly guarded: boolean;
  /** It is under `each`: every value is kept, in order. */
  readonly collected: boolean;
  /** Of collected fields, only strings that match are kept; null: all. */
  readonly only: RegExp | null;
  /** Of a list of strings: how each of them is collected; null: it is no such list. */
  readonly listed: Spelling | null;
  /** What a multipart part's text is read as. */
  readonly part: 'number' | 'boolean' | 'file' | null;
  /** Its value stays in the body. */
  readonly unread: boolean;
  /** Names inside it when it is an object. */
  readonly members: Level | null;
  /** Names inside its elements when it is an array. */
  readonly elements: Level | null;
  /** What each of its elements is collected as; null: only their contents are. */
  readonly element: Spelling | null;
  /** Of an element: selects what to keep of the values found in it; null: not an element. */
  readonly keep: ((found: readonly Found[]) => readonly Found[]) | null;
}

/** One way to write a field's name. `exact` is false for a key that equals it only when case is folded. */
export interface Spelling {
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly rule: Rule;
  readonly exact: boolean;
  /** The same spelling with `exact` false. */
  readonly folded: Spelling | null;
}

/** The names that the gateway reads in one object. */
export interface Level {
  /** By length in bytes. */
  readonly byLength: readonly (readonly Spelling[] | undefined)[];
  readonly byText: ReadonlyMap<string, Spelling>;
  readonly byFold: ReadonlyMap<string, Spelling>;
  /** Longest key that can spell one of the names, escaped or in another case; bytes. */
  readonly longest: number;
  /** Bits of the keys that may spell one of them (`keyBit`): the lower 32 and the upper. */
  readonly filterLow: number;
  readonly filterHigh: number;
}

const compiled = new WeakMap<FieldSpec, Level>();
const encoder = new TextEncoder();
/** Bytes that one character of a name may take in a key: an escape such as `\u006d`. */
const LONGEST_CHARACTER = 6;

/**
 * Prepares a spec once and remembers it.
 * @throws RangeError when one object has more than 31 names.
 */
export function compileSpec(spec: FieldSpec): Level {
  let level = compiled.get(spec);
  if (level === undefined) {
    level = compileLevel(spec, { prefix: '', collected: false });
    compiled.set(spec, level);
  }
  return level;
}

/** The place of names: the path before them, and whether they are under `each`. */
interface Within {
  readonly prefix: string;
  readonly collected: boolean;
}

function compileLevel(spec: FieldSpec, within: Within): Level {
  const byLength: Spelling[][] = [];
  const byText = new Map<string, Spelling>();
  const byFold = new Map<string, Spelling>();
  const filter: [number, number] = [0, 0];
  Object.entries(spec).forEach(([name, field], index) => {
    if (index > 30) throw new RangeError(`more than 31 names in one object, from "${name}" on`);
    const rule = compileRule(name, field, within, 1 << index);
    for (const text of [name, ...(field.aliases ?? [])]) {
      const bytes = encoder.encode(text);
      const folded: Spelling = { text, bytes, rule, exact: false, folded: null };
      const spelling: Spelling = { text, bytes, rule, exact: true, folded };
      byLength[bytes.length] = [...(byLength[bytes.length] ?? []), spelling];
      byText.set(text, spelling);
      const bit = keyBit(bytes);
      filter[bit < 32 ? 0 : 1] |= 1 << (bit & 31);
      byFold.set(fold(text), folded);
    }
  });
  const longest = (byLength.length - 1) * LONGEST_CHARACTER;
  const [filterLow, filterHigh] = filter;
  return { byLength, byText, byFold, longest, filterLow, filterHigh };
}

function compileRule(name: string, field: FieldRule, { prefix, collected }: Within, bit: number): Rule {
  const path = `${prefix}${name}`;
  return {
    ...plain,
    name,
    path,
    bit,
    guarded: !collected || field.guarded === true,
    collected,
    only: field.only ?? null,
    part: field.part ?? null,
    unread: field.unread === true,
    members: field.fields ? compileLevel(field.fields, { prefix: `${path}.`, collected }) : null,
    elements: field.each ? compileLevel(field.each, { prefix: `${path}[].`, collected: true }) : null,
    listed: field.strings ? listedSpelling(`${path}[]`) : null,
    element: field.elements ? elementSpelling(`${path}[]`, field.elements) : null,
  };
}

/** A rule without anything special; all rules have its shape. */
const plain: Rule = {
  name: '',
  path: '',
  bit: 0,
  guarded: false,
  collected: false,
  only: null,
  part: null,
  unread: false,
  listed: null,
  members: null,
  elements: null,
  element: null,
  keep: null,
};

/** An element has no key: nothing is compared with this spelling. */
function elementSpelling(path: string, keep: Rule['keep']): Spelling {
  const rule: Rule = { ...plain, path, collected: true, unread: true, keep };
  return { text: '', bytes: new Uint8Array(), rule, exact: true, folded: null };
}

/** A string of a list has no key either. */
function listedSpelling(path: string): Spelling {
  const rule: Rule = { ...plain, path, collected: true };
  return { text: '', bytes: new Uint8Array(), rule, exact: true, folded: null };
}

/** Both ways: a decoder that ignores case may map U+017F to "s" and U+212A to "k". */
function fold(text: string): string {
  return text.toUpperCase().toLowerCase();
}

/**
 * The spelling that the key in bytes [start, end) is, compared after unescaping; `exact` is false if
 * only case differs. Null when the level does not know it.
 */
export function spellingOf(level: Level, body: Buffer, start: number, end: number): Spelling | null {
  if (end - start > level.longest) return null;
  for (let i = start; i < end; i++) {
    const c = byteAt(body, i);
    if (c === 0x5c || c > 0x7f) return spellingNamed(level, textOf(body, start, end));
  }
  const candidates = level.byLength[end - start];
  if (candidates === undefined) return null;
  let near: Spelling | null = null;
  for (const candidate of candidates) {
    const likeness = compare(candidate.bytes, body, start);
    if (likeness === 2) return candidate;
    if (likeness === 1) near = candidate.folded;
  }
  return near;
}

/** The same for a name that is text already. */
export function spellingNamed(level: Level, text: string): Spelling | null {
  return level.byText.get(text) ?? level.byFold.get(fold(text)) ?? null;
}

/** 2: the same bytes; 1: the same but for case; 0: another name. */
function compare(name: Uint8Array, body: Uint8Array, start: number): 0 | 1 | 2 {
  let same = true;
  for (let i = 0; i < name.length; i++) {
    const a = byteAt(name, i);
    const b = byteAt(body, start + i);
    if (a === b) continue;
    const letter = a | 0x20;
    if ((b | 0x20) !== letter || letter < 0x61 || letter > 0x7a) return 0;
    same = false;
  }
  return same ? 2 : 1;
}

/**
 * The bit of a key among the 64 of a filter: that of a name that is read, and of few others. Upper and lower case have
 * the same bit.
 */
function keyBit(key: Uint8Array): number {
  return ((key.length * 7) ^ ((key[0] ?? 0) & 0x1f)) & 63;
}
