import { type ContentRule, maskKinds } from '#lib/core/facts/snapshot';
import type { Finder, Found } from '#lib/gateway/content/pure/masks/found';
import { type Leaf, leavesOf } from '#lib/gateway/content/pure/masks/leaves';
import { ownFinder, readPatterns } from '#lib/gateway/content/pure/masks/own';
import { isSecretName, readyFinders } from '#lib/gateway/content/pure/masks/ready';
import { findInside, withoutEscapes } from '#lib/gateway/content/pure/masks/views';

/** What a workspace has masked in content before it is kept (contract: content/masks). */
export type Masks = NonNullable<ContentRule['masks']>;

/** A request or an answer before it is kept. */
export interface MaskedSide {
  readonly contentType: string;
  /** null: it is not text. */
  readonly text: string | null;
  readonly cut: boolean;
}

/** Compiled masks. */
export interface Masker {
  /** @throws if it cannot be done: nothing may be kept then. */
  mask<Side extends MaskedSide>(side: Side, of: 'request' | 'answer'): Side;
}

/** Cut content may end within a secret: so many characters of a text that was cut are left out, UTF-16 units. */
const CUT_CHARACTERS = 256;
/** Only short strings are worth remembering: types, names and ids of events. */
const MEMO_CHARACTERS = 256;

/** What is written in place of a secret; it means the same in text, in JSON and in JSON within JSON. */
export const markOf = (name: string): string => `[masked: ${name}]`;

/** A part of a body that is replaced; without a mark, it continues the one before. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly mark: string;
}

/** @throws PatternFault for own patterns that cannot be used. */
export function maskerOf({ ready, patterns }: Masks): Masker {
  const own = patterns === null ? [] : readPatterns(patterns).map(ownFinder);
  const finders = [...maskKinds.filter((one) => ready.includes(one)).map((one) => readyFinders[one]), ...own];
  return {
    mask: (side, of) => {
      const search = searchOf(finders);
      return {
        ...side,
        contentType: applied(side.contentType, marked(search(side.contentType))),
        text:
          side.text === null
            ? null
            : maskBody(side.text, {
                isEvents: isEventStream(side.contentType, side.text),
                isRequest: of === 'request',
                cut: side.cut,
                search,
                numbers: searchOf([...(ready.includes('cards') ? [readyFinders.cards] : []), ...own]),
                names: ready.includes('keys'),
              }),
      };
    },
  };
}

type Search = (text: string) => readonly Found[];

/** Searches with and without escapes; what it finds in short strings is remembered. */
function searchOf(finders: readonly Finder[]): Search {
  const memo = new Map<string, readonly Found[]>();
  return (text) => {
    const known = memo.get(text);
    if (known) return known;
    const found = findInside(text, (one) => finders.flatMap((find) => find(one)));
    if (text.length <= MEMO_CHARACTERS) memo.set(text, found);
    return found;
  };
}

function isEventStream(contentType: string, text: string): boolean {
  return /^\s*text\/event-stream/i.test(contentType) || /^\uFEFF?(?:data|event|id|retry)?:/.test(text);
}

interface Task {
  readonly isEvents: boolean;
  readonly isRequest: boolean;
  readonly cut: boolean;
  readonly search: Search;
  readonly numbers: Search;
  /** Whether the values of properties with the name of a secret are masked. */
  readonly names: boolean;
}

function maskBody(body: string, { isEvents, isRequest, cut, search, numbers, names }: Task): string {
  const leaves = leavesOf(body, isEvents, isRequest);
  const texts = new Map<string, Piece[]>();
  const edits: Edit[] = [];
  for (const leaf of leaves) {
    const { kind, from, to, property } = leaf;
    const source = body.slice(from, to);
    if (kind === 'odds') {
      edits.push({ from, to, mark: body.charAt(from) === '[' ? '[]' : 'null' });
    } else if (kind === 'number') {
      const [found] = numbers(source);
      if (found) edits.push({ from, to, mark: `"${markOf(found.name)}"` });
    } else {
      const piece = pieceOf(leaf, source);
      edits.push(...marked(search(piece.shown)).flatMap((edit) => new Text([piece]).placed(edit)));
      if (names && kind === 'string' && isSecretName(property) && /^\S{6,}$/.test(piece.shown)) {
        edits.push({ from, to, mark: markOf('key') });
      }
      if (kind === 'name') continue;
      const pieces = texts.get(leaf.text) ?? [];
      if (pieces.length === 0) texts.set(leaf.text, pieces);
      pieces.push(piece);
    }
  }
  const last = leaves.findLast(({ kind }) => kind === 'string' || kind === 'plain')?.text;
  for (const [text, pieces] of texts) {
    const isCut = cut && (text === last || (isEvents && pieces.length > 1));
    if (pieces.length === 1 && !isCut) continue;
    const whole = new Text(pieces);
    if (pieces.length > 1) edits.push(...marked(search(whole.shown)).flatMap((edit) => whole.placed(edit)));
    if (isCut) edits.push(...whole.end(CUT_CHARACTERS));
  }
  return applied(body, edits);
}

/** A string of a body as it reads, and where its characters are. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly shown: string;
  /** null: it has no escapes. */
  readonly places: Int32Array | null;
}

function pieceOf({ kind, from, to }: Leaf, source: string): Piece {
  const inner = kind === 'plain' ? null : withoutEscapes(source);
  return { from, to, shown: inner?.text ?? source, places: inner?.places ?? null };
}

function marked(found: readonly Found[]): Edit[] {
  return found.map(({ from, to, name }) => ({ from, to, mark: markOf(name) }));
}

/** Pieces of one text, and where in it each begins. */
class Text {
  readonly #pieces: readonly Piece[];
  readonly #begins: number[] = [];
  readonly shown: string;

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
    let length = 0;
    for (const { shown } of pieces) {
      this.#begins.push(length);
      length += shown.length;
    }
    this.shown = pieces.map(({ shown }) => shown).join('');
  }

  /** An edit of the text as edits of the body: the mark is in the first piece that it touches. */
  placed({ from, to, mark }: Edit): Edit[] {
    const edits: Edit[] = [];
    for (let at = this.#pieceAt(from); at < this.#pieces.length; at += 1) {
      const begin = this.#begins[at] ?? 0;
      const piece = this.#pieces[at];
      if (!piece || begin >= to) break;
      const place = (inPiece: number) => piece.from + (piece.places ? (piece.places[inPiece] ?? 0) : inPiece);
      const first = place(Math.max(0, from - begin));
      const end = place(Math.min(to - begin, piece.shown.length));
      if (end > first) edits.push({ from: first, to: end, mark: edits.length === 0 ? mark : '' });
    }
    return edits;
  }

  /** Its last characters. */
  end(characters: number): Edit[] {
    const { length } = this.shown;
    return this.placed({ from: Math.max(0, length - characters), to: length, mark: '' });
  }

  /** The last piece that begins at this place or before. */
  #pieceAt(place: number): number {
    let [low, high] = [0, this.#begins.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#begins[middle] ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Where edits overlap, all of it is replaced, by the first mark. */
function applied(body: string, edits: readonly Edit[]): string {
  const ordered = edits.toSorted((one, other) => one.from - other.from || other.to - one.to);
  const parts: string[] = [];
  let done = 0;
  for (let next = 0; next < ordered.length; ) {
    const first = ordered[next];
    if (!first) break;
    let { to, mark } = first;
    for (next += 1; next < ordered.length; next += 1) {
      const other = ordered[next];
      if (!other || other.from >= to) break;
      to = Math.max(to, other.to);
      mark ||= other.mark;
    }
    parts.push(body.slice(done, first.from), mark);
    done = to;
  }
  parts.push(body.slice(done));
  return parts.join('');
}
