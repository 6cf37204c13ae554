import { crc32 } from 'node:zlib';
import type { Payload } from '#lib/settlement/record/encode';

/** Of every journal record: u32 length of the payload, u32 CRC-32 of it, little-endian (architecture §3). */
export const headerBytes = 8;
/** Longer than any payload that the gateway writes: a longer one is damage. */
const longestPayload = 64 * 1024 * 1024;

/** Where the readable part of a journal file ends, and why. Bytes from the start of the file. */
export interface JournalEnd {
  /** clean: at its last byte. torn: in a half-written last record. corrupt: damage before later records. */
  readonly kind: 'clean' | 'torn' | 'corrupt';
  readonly atByte: number;
  readonly fileBytes: number;
}

const firstBytes = 1024 * 1024;
const closingBracket = 0x5d;

/** Records on their way to a file, one behind the other. */
export class RecordBuffer {
  #bytes = Buffer.allocUnsafe(firstBytes);
  #used = 0;

  /** @returns where the row's bytes stand in `bytes`. */
  add({ head, row }: Payload): { readonly start: number; readonly end: number } {
    const from = this.#used + headerBytes;
    // A UTF-16 unit takes at most three bytes of UTF-8.
    this.#makeRoom(from + head.length + row.length * 3 + 1);
    const bytes = this.#bytes;
    const start = from + bytes.write(head, from, 'latin1');
    const end = start + bytes.write(row, start, 'utf8');
    bytes[end] = closingBracket;
    bytes.writeUInt32LE(end + 1 - from, this.#used);
    bytes.writeUInt32LE(crc32(bytes.subarray(from, end + 1)), this.#used + 4);
    this.#used = end + 1;
    return { start, end };
  }

  /** A view: good until the next `add` or `clear`. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#used);
  }

  clear(): void {
    this.#used = 0;
    if (this.#bytes.length > 8 * firstBytes) this.#bytes = Buffer.allocUnsafe(firstBytes);
  }

  #makeRoom(end: number): void {
    if (end <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(end, this.#bytes.length * 2));
    this.bytes().copy(larger);
    this.#bytes = larger;
  }
}

/** The end of the record at `start`; null when no whole, undamaged record stands there. */
export function recordEnd(bytes: Buffer, start: number): number | null {
  if (start + headerBytes > bytes.length) return null;
  const length = bytes.readUInt32LE(start);
  const from = start + headerBytes;
  const end = from + length;
  if (length === 0 || length > longestPayload || end > bytes.length) return null;
  return crc32(bytes.subarray(from, end)) === bytes.readUInt32LE(start + 4) ? end : null;
}

/** Why no record could be read at `start`: a torn tail has nothing whole behind it. */
export function endAt(bytes: Buffer, start: number): JournalEnd {
  const end = { atByte: start, fileBytes: bytes.length };
  if (start === bytes.length) return { kind: 'clean', ...end };
  for (let later = start + 1; later + headerBytes < bytes.length; later++) {
    // Every payload is a JSON array: its bracket makes the search cheap.
    if (bytes[later + headerBytes] === 0x5b && recordEnd(bytes, later) !== null) {
      return { kind: 'corrupt', ...end };
    }
  }
  return { kind: 'torn', ...end };
}
