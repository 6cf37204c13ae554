import { resourceRows } from '#lib/gateway/resources/row';
import { callRow, openRow } from '#lib/gateway/settlement/pure/call-row';
import type { Entry, WrittenEntry } from '#lib/gateway/settlement/pure/entry';
import type { RowBytes } from '#lib/gateway/settlement/pure/record/row-writer';
import { asciiJson } from '#lib/gateway/settlement/pure/record/storable';

/** A changed layout takes a new version number: a start never misreads what an older one left. */
export const layoutVersion = 3;
/** First byte of a payload. It occurs in no text, so that what strangers wrote is never taken for a record. */
export const marker = 0xff;
const closingBracket = 0x5d;

/** A journal record's payload: the marker, the head, the row. */
export interface Payload {
  /** A JSON array in ASCII without brackets inside: version, kind, call id, and what the row does not hold. */
  readonly head: string;
  /** Of a call (a `keep`: the resources as a JSON array); good until the next payload is made. */
  readonly row: RowBytes;
}

/** The payload of one journal record. What the drain will send is written once for both. */
export function encodeEntry(entry: Entry | WrittenEntry): Payload {
  const head = `[${layoutVersion},"${entry.kind}","${entry.callId}"`;
  switch (entry.kind) {
    case 'open':
      return {
        head: `${head},"${entry.funding}",${entry.atMs},"${entry.holdNano}",${entry.tokens}]`,
        row: openRow(entry.call),
      };
    case 'close':
      return { head: `${head},"${entry.funding}"]`, row: rowOf(entry) };
    case 'refused':
      return { head: `${head}]`, row: rowOf(entry) };
    case 'checkpoint':
      return { head: `${head}]`, row: callRow(entry.call) };
    case 'keep': {
      const bytes = Buffer.from(asciiJson(resourceRows(entry.resources)));
      return { head: `${head}]`, row: { bytes, start: 0, end: bytes.length } };
    }
  }
}

/** The row of an ended call, as it was written before where it was; good until the next row is written. */
export function rowOf(entry: Extract<Entry, { kind: 'close' | 'refused' }> | WrittenEntry): RowBytes {
  if (entry.written === undefined) return callRow(entry.call);
  return { bytes: entry.written, start: entry.start, end: entry.end };
}

/** The head of a payload with a marker, and where its row begins. @throws Error when it has none. */
export function headOf(payload: Buffer): { readonly head: string; readonly rowAt: number } {
  const rowAt = payload.indexOf(closingBracket) + 1;
  if (rowAt === 0) throw new Error('a journal record lacks its head');
  return { head: payload.toString('latin1', 1, rowAt), rowAt };
}
