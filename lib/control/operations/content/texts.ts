import { createParser } from 'eventsource-parser';
import { parseJson } from '#lib/core/families/reading/json';
import type { KeptSide } from '#lib/gateway/content/stored';

/**
 * The texts of a kept request or answer, as people read them, whatever its protocol: each string of its JSON; in a
 * stream, the strings that its events have in the same place are put together, so that a word that came in pieces is
 * whole. What is not JSON is one text. Pure.
 */
export function textsOf({ text, contentType }: Pick<KeptSide, 'text' | 'contentType'>): string[] {
  if (text === null) return [];
  const values: unknown[] = [];
  if (contentType.startsWith('text/event-stream')) {
    createParser({ onEvent: ({ data }) => values.push(parseJson(data)) }).feed(text);
  } else {
    const value = parseJson(text);
    // A stream of generate-content may also be one JSON array.
    values.push(...[value].flat());
  }
  const texts = new Map<string, string[]>();
  for (const value of values) collect(value, '', texts);
  return texts.size > 0 ? [...texts.values()].map((pieces) => pieces.join('')) : [text];
}

/** Deeper values are left out; requests that reach a provider are not so deep. */
const MOST_LEVELS = 200;

function collect(value: unknown, place: string, texts: Map<string, string[]>, level = 0): void {
  if (typeof value === 'string') {
    const pieces = texts.get(place);
    if (pieces) pieces.push(value);
    else texts.set(place, [value]);
  } else if (typeof value === 'object' && value !== null && level < MOST_LEVELS) {
    for (const [name, member] of Object.entries(value)) collect(member, `${place}/${name}`, texts, level + 1);
  }
}

/** Where a text was found, with what stands around it; lines and runs of blanks as one blank. */
export interface Excerpt {
  readonly before: string;
  readonly match: string;
  readonly after: string;
}

/** Characters on each side of a match. */
const AROUND = 80;

/** The first place of a text in others, in capital or small letters; null: it is in none of them. Pure. */
export function findText(texts: readonly string[], wanted: string): Excerpt | null {
  const small = wanted.toLowerCase();
  for (const text of texts) {
    const lower = text.toLowerCase();
    const at = lower.indexOf(small);
    if (at < 0) continue;
    // Small letters of a few characters are longer: then what is shown is in small letters.
    const shown = lower.length === text.length ? text : lower;
    const end = at + small.length;
    return {
      before: (at > AROUND ? '…' : '') + onOneLine(shown.slice(Math.max(0, at - AROUND), at)),
      match: shown.slice(at, end),
      after: onOneLine(shown.slice(end, end + AROUND)) + (end + AROUND < shown.length ? '…' : ''),
    };
  }
  return null;
}

/** Without halves of characters at its ends. */
function onOneLine(text: string): string {
  return text.toWellFormed().replaceAll('\uFFFD', '').replaceAll(/\s+/g, ' ');
}
