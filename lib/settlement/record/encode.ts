import { resourceRows } from '#lib/resources/row';
import { asciiJson, callRow, openRow } from '#lib/settlement/call-row';
import type { Entry, WrittenEntry } from '#lib/settlement/entry';

/** A changed layout takes a new version number: a start never misreads what an older one left. */
export const layoutVersion = 2;

/** A journal record's payload in two parts, ASCII; the row is JSON of its own, and the payload ends behind it. */
export interface Payload {
  readonly head: string;
  readonly row: string;
}

/**
 * The payload of one journal record, `head + row + "]"`: a JSON array by position whose last element is
 * the call (of a `keep`: the resources). What the drain will send is written once for both.
 */
export function encodeEntry(entry: Entry | WrittenEntry): Payload {
  const head = `[${layoutVersion},"${entry.kind}","${entry.callId}",`;
  if (isWritten(entry)) {
    const row = asciiJson(entry.written.toString('utf8', entry.start, entry.end));
    return { head: entry.kind === 'close' ? `${head}"${entry.funding}",` : head, row };
  }
  switch (entry.kind) {
    case 'open':
      return {
        head: `${head}"${entry.funding}",${entry.atMs},"${entry.holdNano}",${entry.tokens},`,
        row: openRow(entry.call),
      };
    case 'close':
      return { head: `${head}"${entry.funding}",`, row: callRow(entry.call) };
    case 'refused':
    case 'checkpoint':
      return { head, row: callRow(entry.call) };
    case 'keep':
      return { head, row: asciiJson(resourceRows(entry.resources)) };
  }
}

function isWritten(entry: Entry | WrittenEntry): entry is WrittenEntry {
  return (entry.kind === 'close' || entry.kind === 'refused') && entry.written !== undefined;
}
