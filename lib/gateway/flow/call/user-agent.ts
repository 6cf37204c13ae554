/** Characters of a user agent that are kept. */
const MOST = 256;

/**
 * The user agent for the log (contract: call-log/user-agent). Headers come as the characters of their bytes; those that
 * are UTF-8 are read as such, others stay one character a byte.
 * @param header as Node and web requests give it.
 * @returns at most 256 UTF-16 units, no half of a character; null: none was sent.
 */
export function readUserAgent(header: string | undefined): string | null {
  if (header === undefined) return null;
  const text = isAscii(header) ? header : fromUtf8(header);
  const cut = text.slice(0, MOST);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

function fromUtf8(bytes: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return bytes;
  }
}
