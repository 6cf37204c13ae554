import { closeSync, openSync, readSync } from 'node:fs';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import { piecesOf } from '#lib/gateway/settlement/record/read';

const chunkBytes = 512 * 1024;
/** Longer than any record: anything longer is damage that looks like the beginning of one. */
const mostChunkBytes = 128 * 1024 * 1024;

/** A part of a journal file. */
interface Slice {
  /** null: a record that is not the end of a call, or cannot be read. */
  readonly call: CallRecord | null;
  readonly unreadable: boolean;
  /** Where the next record begins, bytes. */
  readonly end: number;
}

/**
 * The ends of calls in a range of a journal file, with little of the file in memory at once. Unreadable records are
 * skipped.
 * @throws Error of the file system.
 */
export function* readEnds(path: string, from: number, until: number): Generator<Slice, void> {
  const fd = openSync(path, 'r');
  try {
    let size = chunkBytes;
    for (let at = from; at < until; ) {
      const bytes = readBytes(fd, at, Math.min(size, until - at));
      let read = 0;
      for (const piece of piecesOf(bytes)) {
        read = piece.end;
        const entry = piece.kind === 'entry' ? piece.entry : null;
        const call = entry?.kind === 'close' || entry?.kind === 'refused' ? entry.call : null;
        yield { call, unreadable: entry === null, end: at + read };
      }
      at += read;
      if (read > 0) size = chunkBytes;
      else if (bytes.length < size || size > mostChunkBytes) {
        // The end of a file where a write was cut short.
        yield { call: null, unreadable: false, end: until };
        return;
      } else size *= 2;
    }
  } finally {
    closeSync(fd);
  }
}

function readBytes(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, at));
}
