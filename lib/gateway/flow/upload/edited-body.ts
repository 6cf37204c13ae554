import { Readable } from 'node:stream';
import { applyEdits, inOrder } from '#lib/core/families/edits';
import type { Edit } from '#lib/core/families/family';
import type { Scan } from '#lib/core/families/scan';

/**
 * Longer bodies are streamed as the provider reads them. Written in one go, they would count as sent while most of
 * their bytes were still buffered here: a client that leaves would be charged, and an early answer would release the
 * connection to the next call, which would then queue behind the rest.
 */
const AT_ONCE_BYTES = 256 * 1024;
const PIECE_BYTES = 64 * 1024;

/** The body that is sent to one target. */
export interface EditedBody {
  readonly body: Uint8Array | Readable | null;
  /** Bytes of a streamed body; null: the length of `body` is known. */
  readonly contentLength: number | null;
}

/**
 * The client's own bytes with the edited ranges replaced (contract: body/checked-is-sent). For every attempt an
 * upload is streamed from its file again, and a long body from memory without a copy.
 * @throws RangeError when edits overlap or leave the body.
 */
export function editedBody(scan: Scan, edits: readonly Edit[]): EditedBody {
  const { upload } = scan;
  if (upload) return streamed(upload.bytes, edits, (start, end) => upload.read(start, end));
  if (scan.body.length <= AT_ONCE_BYTES) return { body: applyEdits(scan.body, edits), contentLength: null };
  // Reads `scan.body` when pulled instead of capturing it: a stream that has ended must not keep its memory.
  return streamed(scan.body.length, edits, (start, end) => cut(scan.body, start, end));
}

function* cut(body: Uint8Array, start: number, end: number): Generator<Uint8Array> {
  for (let at = start; at < end; at += PIECE_BYTES) yield body.subarray(at, Math.min(end, at + PIECE_BYTES));
}

/** Reads the bytes [start, end) of the client's body in pieces. */
type Source = (start: number, end: number) => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

function streamed(bytes: number, edits: readonly Edit[], source: Source): EditedBody {
  const ordered = inOrder(bytes, edits);
  const contentLength = ordered.reduce(
    (sum, { start, end, text }) => sum + Buffer.byteLength(text) - (end - start),
    bytes,
  );
  return { body: Readable.from(pieces(bytes, ordered, source), { objectMode: false }), contentLength };
}

/** Stops when its consumer does: a destroyed stream reads no further. */
async function* pieces(bytes: number, edits: readonly Edit[], source: Source): AsyncGenerator<Uint8Array> {
  let kept = 0;
  for (const { start, end, text } of edits) {
    yield* source(kept, start);
    if (text !== '') yield Buffer.from(text);
    kept = end;
  }
  yield* source(kept, bytes);
}
