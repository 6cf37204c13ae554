import { readFileSync } from 'node:fs';
import { type DrainedEntry, type Entry, isDrained, writtenOf } from '#lib/settlement/entry';
import { decodeEntry } from '#lib/settlement/record/decode';
import { layoutVersion } from '#lib/settlement/record/encode';
import { endAt, headerBytes, type JournalEnd, recordEnd } from '#lib/settlement/record/frame';

/** An entry and where its record stands, bytes from the start of the file. */
export interface ReadEntry {
  readonly entry: Entry;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a journal file from the start to the first record that is not whole.
 * @returns (of the generator) why reading ended; anything but `clean` and `torn` must be reported.
 * @throws Error of the file system, or of an undamaged record that this version cannot read.
 */
export function* readJournal(file: string): Generator<ReadEntry, JournalEnd> {
  const bytes = readFileSync(file);
  let start = 0;
  for (let end = recordEnd(bytes, start); end !== null; end = recordEnd(bytes, start)) {
    yield { entry: decodeEntry(bytes.toString('utf8', start + headerBytes, end)), start, end };
    start = end;
  }
  return endAt(bytes, start);
}

const openingBrace = 0x7b;
/** How the records begin that serve recovery alone. */
const undrained = ['open', 'checkpoint'].map((kind) => Buffer.from(`[${layoutVersion},"${kind}"`));

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
  const entry = decodeEntry(payload.toString());
  if (!isDrained(entry)) return null;
  if (entry.kind === 'keep') return entry;
  // The head in front of the row holds no brace, and the payload ends behind the row.
  return writtenOf(entry, payload, payload.indexOf(openingBrace), payload.length - 1);
}
