import type { SettledEntry } from '#lib/gateway/settlement/pure/entry';
import { rowOf } from '#lib/gateway/settlement/record/encode';

/** Dimensions, whether there are nulls, type, length and lower bound. */
const headBytes = 20;

/**
 * The rows of these calls, in the order of their ids, as a PostgreSQL array in binary form: bytes that the journal
 * wrote, sent as they are.
 * @param type the database's number of `call_record`.
 */
export function arrayOf(type: number, entries: readonly SettledEntry[]): Buffer {
  const inOrder = entries.toSorted((one, other) => (one.callId < other.callId ? -1 : 1));
  let bytes = Buffer.allocUnsafe(headBytes + inOrder.reduce((sum, entry) => sum + guessedBytes(entry), 0));
  let at = headBytes;
  for (const [index, value] of [1, 0, type, inOrder.length, 1].entries())
    bytes.writeUInt32BE(value, index * 4);
  for (const entry of inOrder) {
    const row = rowOf(entry);
    const length = row.end - row.start;
    if (at + 4 + length > bytes.length) bytes = Buffer.concat([bytes.subarray(0, at)], (at + length) * 2);
    bytes.writeInt32BE(length, at);
    row.bytes.copy(bytes, at + 4, row.start, row.end);
    at += 4 + length;
  }
  return bytes.subarray(0, at);
}

/** Those that the journal has not written are few, and encoded once. */
function guessedBytes(entry: SettledEntry): number {
  return entry.written === undefined ? 1000 : 4 + entry.end - entry.start;
}
