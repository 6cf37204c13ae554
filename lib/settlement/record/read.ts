import { readFileSync } from 'node:fs';
import type { Entry } from '#lib/settlement/entry';
import { decodeEntry } from '#lib/settlement/record/decode';
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
  return yield* readRecords(readFileSync(file), 0);
}

/** As `readJournal`, from bytes in memory and from a record's start. */
export function* readRecords(bytes: Buffer, from: number): Generator<ReadEntry, JournalEnd> {
  let start = from;
  for (let end = recordEnd(bytes, start); end !== null; end = recordEnd(bytes, start)) {
    yield { entry: decodeEntry(bytes.toString('utf8', start + headerBytes, end)), start, end };
    start = end;
  }
  return endAt(bytes, start);
}
