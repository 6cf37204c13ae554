import type { Edit } from '#lib/families/family';
import type { Found, Scan } from '#lib/families/scan';

/**
 * The body with its edits, as pieces to be written one after the other: slices of the client's own
 * bytes and, between them, the new text. Nothing is parsed or copied (decisions §4).
 * @throws RangeError when ranges overlap or leave the body.
 */
export function applyEdits(body: Uint8Array, edits: readonly Edit[]): readonly Uint8Array[] {
  if (edits.length === 0) return [body];
  const pieces: Uint8Array[] = [];
  let kept = 0;
  const ordered = edits.length === 1 ? edits : [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  for (const { start, end, text } of ordered) {
    if (start < kept || end < start || end > body.length) {
      throw new RangeError(`edit [${start}, ${end}) overlaps another one or leaves the body`);
    }
    if (start > kept) pieces.push(body.subarray(kept, start));
    if (text !== '') pieces.push(Buffer.from(text));
    kept = end;
  }
  if (kept < body.length) pieces.push(body.subarray(kept));
  return pieces;
}

/** Bytes of all pieces together: the `content-length` of the edited body. */
export function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((total, piece) => total + piece.length, 0);
}

/**
 * Replaces a value where it stands.
 * @param json the new value as JSON; the bare text of a multipart part takes a string without its quotes.
 */
export function replaceValue(found: Found, json: string): Edit {
  return { start: found.start, end: found.end, text: found.bare ? bareText(json) : json };
}

function bareText(json: string): string {
  const value: unknown = JSON.parse(json);
  return typeof value === 'string' ? value : json;
}

/** Adds a member before the closing brace of an object of the body. */
export function insertMember(
  object: { readonly end: number; readonly empty: boolean },
  name: string,
  json: string,
): Edit {
  const at = object.end - 1;
  return { start: at, end: at, text: `${object.empty ? '' : ','}${JSON.stringify(name)}:${json}` };
}

/** Sets an absent field of the root object: an explicit null is replaced in place, else it is inserted. */
export function setRootField(scan: Scan, name: string, json: string): Edit {
  const empty = scan.nulls.get(name);
  return empty ? replaceValue(empty, json) : insertMember(scan.root, name, json);
}
