const LINE_FEED = 0x0a;

/** A line is longer than it may be. */
export class LongLine extends Error {}

/**
 * The lines of a text that comes in pieces, without their line ends; of an empty one, its place is kept. Memory: one
 * line.
 * @param mostBytes of one line. @throws LongLine.
 */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<Uint8Array> {
  let begun: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    let from = 0;
    for (let at = piece.indexOf(LINE_FEED); at >= 0; at = piece.indexOf(LINE_FEED, from)) {
      bytes += at - from;
      if (bytes > mostBytes) throw new LongLine();
      begun.push(piece.subarray(from, at));
      yield joined(begun);
      begun = [];
      bytes = 0;
      from = at + 1;
    }
    bytes += piece.length - from;
    if (bytes > mostBytes) throw new LongLine();
    if (from < piece.length) begun.push(piece.subarray(from));
  }
  if (begun.length > 0) yield joined(begun);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only ? only : Buffer.concat(pieces);
}

/** Whether a line says nothing: white space, such as the rest of a line end of two characters. */
export function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
