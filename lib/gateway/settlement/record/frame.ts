import { crc32 } from 'node:zlib';
import { marker, type Payload } from '#lib/gateway/settlement/record/payload';

/** Of every journal record: u32 length and u32 CRC-32 of the payload, little-endian (contract: durability/journal). */
export const headerBytes = 8;
const markerBytes = 1;
/** Longer than any payload that the gateway writes: a longer one is damage. */
const longestPayload = 64 * 1024 * 1024;

/** More than most ticks write; a page takes about six hundred calls. */
const pageBytes = 1024 * 1024;
/** Pages kept for use again; beyond it they are left to the collector. */
const mostSpare = 16;

/**
 * Memory in which records follow one another. What the drain needs of them stays where the journal wrote it: only full
 * collections would free copies for each tick, and the copies would cause them.
 */
export class Page {
  readonly bytes: Buffer;
  readonly #onFree: (page: Page) => void;
  #users = 1;

  /** @param onFree called when the last user has left; its maker is the first. */
  constructor(size: number, onFree: (page: Page) => void) {
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.#onFree = onFree;
  }

  /** One more may read it. */
  hold(): void {
    this.#users++;
  }

  /** One less: after the last, the bytes will be written over. */
  leave(): void {
    this.#users--;
    if (this.#users === 0) this.#onFree(this);
  }
}

/** Records on their way to a file, one after the other. */
export class RecordBuffer {
  readonly #spare: Page[] = [];
  #page = this.#newPage(pageBytes);
  /** Where in the page those begin that `clear` has not seen, and where they end. */
  #begin = 0;
  #end = 0;

  /** @returns where the row begins in `bytes`. */
  add(payload: Payload): number {
    const room = recordBytes(payload);
    if (this.#end + room > this.#page.bytes.length) this.#turn(room);
    const rowAt = this.#end + headerBytes + markerBytes + payload.head.length;
    this.#end = writeRecord(this.#page.bytes, this.#end, payload);
    return rowAt - this.#begin;
  }

  /** The page that holds what `bytes` shows, and where in it that begins. */
  page(): { readonly page: Page; readonly at: number } {
    return { page: this.#page, at: this.#begin };
  }

  /** A view of what was added since the last `clear`: good until the next `add` or `clear`. */
  bytes(): Buffer {
    return this.#page.bytes.subarray(this.#begin, this.#end);
  }

  /** How many bytes were added since the last `clear`. */
  get length(): number {
    return this.#end - this.#begin;
  }

  clear(): void {
    this.#begin = this.#end;
  }

  /** Goes on in another page, and takes along what was not cleared yet. */
  #turn(room: number): void {
    const last = this.#page;
    const taken = this.bytes();
    const needed = taken.length + room;
    this.#page =
      needed <= pageBytes ? (this.#spare.pop() ?? this.#newPage(pageBytes)) : this.#newPage(needed * 2);
    taken.copy(this.#page.bytes);
    this.#begin = 0;
    this.#end = taken.length;
    last.leave();
  }

  #newPage(size: number): Page {
    return new Page(size, (page) => {
      if (page.bytes.length !== pageBytes || this.#spare.length >= mostSpare) return;
      page.hold();
      this.#spare.push(page);
    });
  }
}

/** One record in memory of its own, of just its size. */
export function recordOf(payload: Payload): Buffer {
  const bytes = Buffer.allocUnsafe(recordBytes(payload));
  writeRecord(bytes, 0, payload);
  return bytes;
}

function recordBytes({ head, row }: Payload): number {
  return headerBytes + markerBytes + head.length + row.end - row.start;
}

/** @returns where it ends. */
function writeRecord(bytes: Buffer, at: number, { head, row }: Payload): number {
  const from = at + headerBytes;
  const rowAt = from + markerBytes + head.length;
  const end = rowAt + row.end - row.start;
  bytes[from] = marker;
  bytes.write(head, from + markerBytes, 'latin1');
  row.bytes.copy(bytes, rowAt, row.start, row.end);
  bytes.writeUInt32LE(end - from, at);
  bytes.writeUInt32LE(crc32(bytes.subarray(from, end)), at + 4);
  return end;
}

/** The end of the record at `start`; null when no whole, undamaged record is there. */
export function recordEnd(bytes: Buffer, start: number): number | null {
  if (start + headerBytes > bytes.length) return null;
  const length = bytes.readUInt32LE(start);
  const from = start + headerBytes;
  const end = from + length;
  if (length === 0 || length > longestPayload || end > bytes.length) return null;
  return crc32(bytes.subarray(from, end)) === bytes.readUInt32LE(start + 4) ? end : null;
}

/** Where the next whole, undamaged record begins at or after `from`; null when there is none. */
export function nextRecord(bytes: Buffer, from: number): number | null {
  for (let start = from; start + headerBytes < bytes.length; start++) {
    if (bytes[start + headerBytes] === marker && recordEnd(bytes, start) !== null) return start;
  }
  return null;
}

/**
 * Whether the bytes from `start` to the end are what a write cut short leaves: the beginning of a record, or
 * zeros. A whole last record with a damaged byte is neither.
 */
export function isTorn(bytes: Buffer, start: number): boolean {
  const from = start + headerBytes;
  if (from >= bytes.length) return true;
  const length = bytes.readUInt32LE(start);
  if (length === 0) return bytes.subarray(start).every((byte) => byte === 0);
  if (length > longestPayload || from + length <= bytes.length) return false;
  // A damaged length: all of the payload is there.
  return crc32(bytes.subarray(from)) !== bytes.readUInt32LE(start + 4);
}
