import { Readable } from 'node:stream';
import { applyEdits } from '#lib/families/edits';
import type { Edit } from '#lib/families/family';
import type { Scan } from '#lib/families/scan';

/**
 * Longer bodies go up piece by piece, as the provider takes them. Handed over at once, they would count as
 * sent while most of them waits here: its client would pay for leaving, and an early answer would free the
 * connection for the next call, which then stands behind the rest.
 */
const AT_ONCE_BYTES = 256 * 1024;
const PIECE_BYTES = 64 * 1024;

/** A body as one target gets it. */
export interface EditedBody {
  readonly body: Uint8Array | Readable | null;
  /** Of a body that is streamed; null: it has a length of its own. */
  readonly contentLength: number | null;
}

/**
 * The client's own bytes with the edited ranges replaced (decisions §4). An upload is streamed from its
 * file anew for every attempt, and a long body from memory, of which no copy is made.
 * @throws RangeError when edits overlap or leave the body.
 */
export function editedBody(scan: Scan, edits: readonly Edit[]): EditedBody {
  const { upload } = scan;
  if (upload) return streamed(upload.bytes, edits, (start, end) => upload.read(start, end));
  if (scan.body.length <= AT_ONCE_BYTES) return { body: applyEdits(scan.body, edits), contentLength: null };
  // Not the body itself: an ended stream must not keep its memory.
  return streamed(scan.body.length, edits, (start, end) => cut(scan.body, start, end));
}

function* cut(body: Uint8Array, start: number, end: number): Generator<Uint8Array> {
  for (let at = start; at < end; at += PIECE_BYTES) yield body.subarray(at, Math.min(end, at + PIECE_BYTES));
}

/** Reads the bytes [start, end) of the client's body, piece by piece. */
type Source = (start: number, end: number) => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

function streamed(bytes: number, edits: readonly Edit[], source: Source): EditedBody {
  const sorted = edits.map(({ start, end, text }) => ({ start, end, text: Buffer.from(text) }));
  sorted.sort((a, b) => a.start - b.start || a.end - b.end);
  let length = bytes;
  let kept = 0;
  for (const { start, end, text } of sorted) {
    if (start < kept || end < start || end > bytes) {
      throw new RangeError(`edit [${start}, ${end}) overlaps another one or leaves the body`);
    }
    kept = end;
    length += text.length - (end - start);
  }
  return { body: Readable.from(pieces(bytes, sorted, source), { objectMode: false }), contentLength: length };
}

/** Ends with whoever reads it: a stream that is destroyed reads no further. */
async function* pieces(
  bytes: number,
  edits: readonly { readonly start: number; readonly end: number; readonly text: Buffer }[],
  source: Source,
): AsyncGenerator<Uint8Array> {
  let kept = 0;
  for (const { start, end, text } of edits) {
    yield* source(kept, start);
    if (text.length > 0) yield text;
    kept = end;
  }
  yield* source(kept, bytes);
}
