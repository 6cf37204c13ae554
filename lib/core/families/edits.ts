import type { Edit, Family } from '#lib/core/families/family';
import type { Found, Scan } from '#lib/core/families/scan';

/**
 * The body with its edits: the client's own bytes and, between them, the new text (contract: body/checked-is-sent).
 * Nothing is parsed; without an edit it is the body itself.
 * @throws RangeError when ranges overlap or leave the body.
 */
export function applyEdits(body: Uint8Array, edits: readonly Edit[]): Uint8Array {
  if (edits.length === 0) return body;
  const ordered = inOrder(body.length, edits);
  const source = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.length);
  let length = body.length;
  for (const { start, end, text } of ordered) length += Buffer.byteLength(text) - (end - start);
  const edited = Buffer.allocUnsafe(length);
  let kept = 0;
  let at = 0;
  for (const { start, end, text } of ordered) {
    at += source.copy(edited, at, kept, start);
    at += edited.write(text, at);
    kept = end;
  }
  source.copy(edited, at, kept);
  return edited;
}

/** By their place in a body of so many bytes. @throws RangeError when ranges overlap or leave it. */
export function inOrder(bodyBytes: number, edits: readonly Edit[]): readonly Edit[] {
  const ordered = edits.length === 1 ? edits : [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  let kept = 0;
  for (const { start, end } of ordered) {
    if (start < kept || end < start || end > bodyBytes) {
      throw new RangeError(`edit [${start}, ${end}) overlaps another one or leaves the body`);
    }
    kept = end;
  }
  return ordered;
}

/**
 * Replaces a value in place.
 * @param json the new value as JSON; the bare text of a multipart part takes a string without its quotes.
 */
export function replaceValue(found: Found, json: string): Edit {
  return { start: found.start, end: found.end, text: found.bare ? bareText(json) : json };
}

function bareText(json: string): string {
  const value: unknown = JSON.parse(json);
  return typeof value === 'string' ? value : json;
}

/** The model's name replaced by the provider's, if the body has one and it differs (contract: body/replaced). */
export function modelEdits({ found }: Scan, upstreamModel: string): Edit[] {
  const model = found.get('model');
  return model && model.value !== upstreamModel ? [replaceValue(model, JSON.stringify(upstreamModel))] : [];
}

/** The edits of families whose body has its output budget at the top (contract: admission/budget-injection). */
export function budgetedEdits(field: string): Family['edits'] {
  return ({ scan }, { upstreamModel }, injectBudget) => {
    const edits = modelEdits(scan, upstreamModel);
    return injectBudget === null ? edits : [...edits, setRootField(scan, field, String(injectBudget))];
  };
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

const QUOTE = 0x22;
const COMMA = 0x2c;

/** Removes members of an object of the body, each with one of the commas beside it. */
export function removeMembers({ body }: Pick<Scan, 'body'>, values: readonly Found[]): Edit[] {
  const members = values.map((value) => ({ start: keyOf(body, value).start, end: value.end }));
  const cuts: { start: number; end: number }[] = [];
  for (const { start, end } of members.sort((a, b) => a.start - b.start)) {
    const next = skipSpace(body, end, 1);
    if (body[next] === COMMA) {
      cuts.push({ start, end: next + 1 });
      continue;
    }
    // The last one goes with the comma before it, which may be gone with the member before it.
    let from = start;
    let before = skipSpace(body, from - 1, -1);
    for (let cut = cuts.at(-1); cut?.end === before + 1; cut = cuts.at(-1)) {
      cuts.pop();
      from = cut.start;
      before = skipSpace(body, from - 1, -1);
    }
    cuts.push({ start: body[before] === COMMA ? before : from, end });
  }
  return cuts.map((cut) => ({ ...cut, text: '' }));
}

function skipSpace(body: Uint8Array, at: number, step: 1 | -1): number {
  let here = at;
  for (let byte = body[here]; byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d); ) {
    here += step;
    byte = body[here];
  }
  return here;
}

/** The name of a member with its quotes; only a colon and white space separate it from its value. */
function keyOf(body: Uint8Array, { start }: Found): { readonly start: number; readonly end: number } {
  const close = body.lastIndexOf(QUOTE, start - 1);
  // A name that was read contains no quotes.
  return { start: body.lastIndexOf(QUOTE, close - 1), end: close + 1 };
}

/**
 * Replaces the name of a member in place; its value, and the bytes between name and value, stay.
 * @param found the member's value, in the JSON body of the scan.
 */
export function renameMember({ body }: Pick<Scan, 'body'>, value: Found, name: string): Edit {
  return { ...keyOf(body, value), text: JSON.stringify(name) };
}
