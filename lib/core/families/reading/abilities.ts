import type { Scan } from '#lib/core/families/scan';
import { Located } from '#lib/core/families/scan/located';

/** Whether a list or an object of the body is there and has something in it. */
export function isGiven({ found }: Scan, path: string): boolean {
  const value = found.get(path);
  return value !== undefined && !value.empty;
}

/** A value of the body that was read; undefined: absent, null, or longer than what is read. */
export function readValue({ found }: Scan, path: string): string | number | boolean | null | undefined {
  return found.get(path)?.value;
}

/** Where a family's requests have parts that may be media. */
export interface PartPlaces {
  /** The member of the body with the conversation. */
  readonly turns: string;
  /** Members of a turn whose elements are parts. */
  readonly parts: readonly string[];
  /** Members of a part that may have further parts. */
  readonly inner: readonly string[];
}

/**
 * Whether a part of the conversation is of this kind. Text that only mentions it, in a tool's input for example, is
 * none. Read only for offers that lack something, and only if one of the marks occurs in the body.
 * @param marks text that every such part contains.
 */
export function hasPart(
  { body, root }: Scan,
  places: PartPlaces,
  marks: readonly string[],
  is: (part: Located) => boolean,
): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (!marks.some((mark) => bytes.includes(mark))) return false;
  const turns = new Located(bytes, root.start, root.end).get(places.turns);
  if (turns === undefined || !marks.some((mark) => turns.has(mark))) return false;
  const within = (outer: Located, names: readonly string[]): boolean =>
    outer
      .members()
      .filter(({ name }) => names.includes(name))
      .flatMap(({ value }) => listed(value))
      .some((part) => is(part) || within(part, places.inner));
  return listed(turns).some((turn) => marks.some((mark) => turn.has(mark)) && within(turn, places.parts));
}

/** The elements of a list; an object without its list, which some providers take too, is one. */
function listed(value: Located): readonly Located[] {
  const elements = value.elements();
  return elements.length > 0 ? elements : [value];
}

/** The text of a short string. */
export function shortText(value: Located | undefined): string | null {
  if (value === undefined || value.end - value.start > LONGEST_TEXT) return null;
  const parsed = value.parse();
  return typeof parsed === 'string' ? parsed : null;
}

/** Of types and media types with their quotes, bytes. */
const LONGEST_TEXT = 200;
