import { callRow } from '#lib/settlement/call-row';
import type { Entry } from '#lib/settlement/entry';

/** A changed layout takes a new version number: a start never misreads what an older one left. */
export const layoutVersion = 2;

/**
 * The payload of one journal record: a JSON array by position, the call in it as the row that the drain
 * will send, so that it is written once for both.
 */
export function encodeEntry(entry: Entry): string {
  const head = `[${layoutVersion},"${entry.kind}","${entry.callId}",`;
  switch (entry.kind) {
    case 'open':
      return (
        `${head}${callRow(entry.call)},"${entry.funding}",${entry.atMs}` +
        `,"${entry.holdNano}",${entry.tokens}]`
      );
    case 'close':
      entry.row ??= callRow(entry.call);
      return `${head}${entry.row},"${entry.funding}"]`;
    case 'refused':
      entry.row ??= callRow(entry.call);
      return `${head}${entry.row}]`;
    case 'checkpoint':
      return `${head}${callRow(entry.call)}]`;
  }
}
