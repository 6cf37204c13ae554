import { readFileSync } from 'node:fs';
import { messageOf } from '#lib/core/errors';
import { type DrainedEntry, type Entry, isDrained, writtenOf } from '#lib/gateway/settlement/pure/entry';
import { headerBytes, isTorn, nextRecord, recordEnd, recordOf } from '#lib/gateway/settlement/record/frame';
import {
  decodeEntry,
  encodeEntry,
  headOf,
  layoutVersion,
  marker,
} from '#lib/gateway/settlement/record/payload';

/** Part of a journal file: a record, or damaged bytes. Positions are offsets in the file, bytes. */
export type Piece = { readonly start: number; readonly end: number } & (
  | { readonly kind: 'entry'; readonly entry: Entry }
  /** A whole record that this version cannot read, such as one of a newer version. */
  | { readonly kind: 'unreadable'; readonly why: string; readonly bytes: Buffer }
  /** Bytes from which no record can be read, changed since they were written. */
  | { readonly kind: 'damaged'; readonly bytes: Buffer }
);

/** Reads a journal file. @throws Error of the file system. */
export function readJournal(file: string): Generator<Piece, void> {
  return piecesOf(readFileSync(file));
}

/**
 * Splits the bytes of a journal file into records. After damage, reading continues at the next whole record; an
 * incomplete last write is skipped.
 */
export function* piecesOf(bytes: Buffer): Generator<Piece, void> {
  for (let start = 0; start < bytes.length; ) {
    const end = recordEnd(bytes, start);
    if (end !== null) {
      yield pieceOf(bytes, start, end);
      start = end;
      continue;
    }
    const next = nextRecord(bytes, start + 1);
    if (next === null && isTorn(bytes, start)) return;
    const until = next ?? bytes.length;
    yield { kind: 'damaged', bytes: bytes.subarray(start, until), start, end: until };
    start = until;
  }
}

function pieceOf(bytes: Buffer, start: number, end: number): Piece {
  try {
    return {
      kind: 'entry',
      entry: decodeEntry(bytes.subarray(start + headerBytes, end)),
      start,
      end,
    };
  } catch (error) {
    const why = messageOf(error);
    return { kind: 'unreadable', why, bytes: bytes.subarray(start, end), start, end };
  }
}

/** How the records begin that serve only recovery. */
const undrained = ['open', 'checkpoint'].map((kind) =>
  Buffer.from([marker, ...Buffer.from(`[${layoutVersion},"${kind}"`)]),
);

/**
 * What the drain needs of whole records in memory, from their first byte on: starts of calls are passed
 * over unread, and of an end its row stays as the bytes that it is.
 * @returns (of each step) where the record ends; null for an entry that the drain does not need.
 */
export function* readDrained(
  bytes: Buffer,
): Generator<{ readonly entry: DrainedEntry | null; readonly end: number }, void> {
  for (let start = 0, end = recordEnd(bytes, 0); end !== null; start = end, end = recordEnd(bytes, start)) {
    const payload = bytes.subarray(start + headerBytes, end);
    yield { entry: drainedOf(payload), end };
  }
}

function drainedOf(payload: Buffer): DrainedEntry | null {
  if (undrained.some((head) => head.compare(payload, 0, head.length) === 0)) return null;
  const entry = decodeEntry(payload);
  if (!isDrained(entry)) return null;
  if (entry.kind === 'keep') return entry;
  return writtenOf(entry, { written: payload, start: headOf(payload).rowAt, end: payload.length });
}

/** One entry as a record of the journal's, for a place that is no journal. */
export function bytesOf(entry: Entry): Buffer {
  return recordOf(encodeEntry(entry));
}

/** @returns null for bytes without a record of this version or the one before. */
export function entryOf(bytes: Buffer): Entry | null {
  const [piece] = piecesOf(bytes);
  return piece?.kind === 'entry' ? piece.entry : null;
}
