const fieldNames = ['data', 'event', 'id', 'retry'].map((name) => Buffer.from(name));
const byteOrderMark = [0xef, 0xbb, 0xbf];

/**
 * Whether the first chunk of a 2xx answer can start a JSON object or array, or an event stream
 * (contract: routing/unreadable-answer). The bytes decide, not the Content-Type. Only white space passes too, because
 * providers send it to keep the connection alive before a whole answer. An empty body does not pass.
 */
export function opensLikeAnswer(chunk: Uint8Array): boolean {
  if (chunk.length === 0) return false;
  let at = 0;
  while (at < byteOrderMark.length && at < chunk.length && chunk[at] === byteOrderMark[at]) at += 1;
  while (at < chunk.length && isWhitespace(chunk[at])) at += 1;
  const first = chunk[at];
  // A colon begins a comment of an event stream.
  if (first === undefined || first === 0x7b || first === 0x5b || first === 0x3a) return true;
  return fieldNames.some((name) => isField(chunk, at, name));
}

/** A field's name up to its colon or line end; a chunk may end inside it. */
function isField(chunk: Uint8Array, start: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i += 1) {
    const byte = chunk[start + i];
    if (byte === undefined) return true;
    if (byte !== name[i]) return false;
  }
  const after = chunk[start + name.length];
  return after === undefined || after === 0x3a || after === 0x0a || after === 0x0d;
}

function isWhitespace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
