const LF = 0x0a;
const CR = 0x0d;

/**
 * The last bytes of a stream that broke: an unfinished event is first ended by a blank line, else the
 * error would be read as part of it (contract: routing/broken-stream).
 * @param tail last bytes that were relayed, at least 4 when there are as many.
 * @param frame the family's error event.
 */
export function breakEnding(tail: Uint8Array, frame: string): string {
  return endsEvent(tail) ? frame : `\n\n${frame}`;
}

/** Whether these last bytes of a stream, at least 4 when there are as many, leave no event unfinished. */
export function endsEvent(tail: Uint8Array): boolean {
  if (tail.length === 0) return true;
  const last = tail.at(-1);
  const before = tail.at(-2);
  if (last === LF && before === CR) return tail.at(-3) === LF && tail.at(-4) === CR;
  return (last === LF && before === LF) || (last === CR && before === CR);
}
