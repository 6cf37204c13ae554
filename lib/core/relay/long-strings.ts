const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Bytes of an event or answer that are kept as they come. */
export const KEPT_AS_IT_COMES = 4 * 1024 * 1024;

/**
 * Whether a piece of a long JSON text can be left out of what is read of it: without a quote or a
 * backslash it is the inside of a long string, such as a picture of many megabytes in base64. What is
 * left can still be parsed, with a shorter string.
 */
export function isInsideString(piece: Uint8Array): boolean {
  return !piece.includes(QUOTE) && !piece.includes(BACKSLASH);
}
