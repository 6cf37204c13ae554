import type { Entry } from '#lib/gateway/settlement/pure/entry';
import { encodeEntry } from '#lib/gateway/settlement/record/encode';
import { recordOf } from '#lib/gateway/settlement/record/frame';
import { piecesOf } from '#lib/gateway/settlement/record/read';

/** One entry as a record of the journal's, for a place that is no journal. */
export function bytesOf(entry: Entry): Buffer {
  return recordOf(encodeEntry(entry));
}

/** @returns null for bytes that hold no record of this version or the one before. */
export function entryOf(bytes: Buffer): Entry | null {
  const [piece] = piecesOf(bytes);
  return piece?.kind === 'entry' ? piece.entry : null;
}
