import type { Found } from '#lib/gateway/content/pure/masks/found';

/** Text without its escapes, and where each of its characters was. */
export interface Unescaped {
  readonly text: string;
  /** The place of each character in the escaped text, and of the end. */
  readonly places: Int32Array;
}

const plain: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};
/** How often text is unescaped: JSON in a string in JSON is once. */
const mostLevels = 8;

/** Undoes the escapes of JSON strings, once; null: there are none. Other backslashes stay. */
export function withoutEscapes(text: string): Unescaped | null {
  let at = text.indexOf('\\');
  if (at < 0) return null;
  const places = new Int32Array(text.length + 1);
  const parts: string[] = [];
  let length = 0;
  let from = 0;
  const copy = (to: number) => {
    if (to > from) parts.push(text.slice(from, to));
    for (let place = from; place < to; place += 1) places[length++] = place;
  };
  for (; at >= 0; at = text.indexOf('\\', from)) {
    copy(at);
    const [made, size] = escapeAt(text, at);
    parts.push(made);
    places[length++] = at;
    from = at + size;
  }
  copy(text.length);
  places[length] = text.length;
  return length === text.length ? null : { text: parts.join(''), places: places.subarray(0, length + 1) };
}

/** The character that an escape stands for, and the escape's length. */
function escapeAt(text: string, at: number): readonly [string, number] {
  const next = text.charAt(at + 1);
  if (next === 'u') {
    const digits = text.slice(at + 2, at + 6);
    return /^[0-9a-fA-F]{4}$/.test(digits)
      ? [String.fromCharCode(Number.parseInt(digits, 16)), 6]
      : ['\\', 1];
  }
  const made = plain[next];
  return made === undefined ? ['\\', 1] : [made, 2];
}

/** Escapes inside escapes without an end, as no program writes them. */
export class TooManyLevels extends Error {}

/**
 * Searches text as it is and, as long as it has escapes, without them: the arguments of a tool are JSON in a string.
 * @throws TooManyLevels if it has escapes within escapes, more than 8 deep.
 */
export function findInside(text: string, search: (text: string) => readonly Found[]): readonly Found[] {
  const found = [...search(text)];
  let inner = withoutEscapes(text);
  for (let level = 1; inner !== null; level += 1) {
    if (level > mostLevels) throw new TooManyLevels('text is escaped more than 8 times');
    const { text: shown, places } = inner;
    for (const { from, to, name } of search(shown)) {
      found.push({ from: places[from] ?? 0, to: places[to] ?? text.length, name });
    }
    const deeper = withoutEscapes(shown);
    inner = deeper && {
      text: deeper.text,
      places: deeper.places.map((place) => places[place] ?? text.length),
    };
  }
  return found;
}
