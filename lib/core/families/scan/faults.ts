import { isUtf8 } from 'node:buffer';
import type { ScanFault } from '#lib/core/families/scan/shape';
import { byteAt } from '#lib/core/families/scan/text';

/** The body is not valid JSON at byte `pos`. @param what is expected there. */
export function broken(body: Uint8Array, pos: number, what: string): ScanFault {
  const where = pos >= body.length ? `it ends too early, at byte ${body.length}` : `at byte ${pos}`;
  return { fault: `The body is not valid JSON: ${where}; ${what}.` };
}

export function brokenString(body: Uint8Array, pos: number): ScanFault {
  if (pos >= body.length) return broken(body, pos, 'a string is not closed');
  return byteAt(body, pos) === 0x5c
    ? broken(body, pos, 'this escape sequence is not valid')
    : broken(body, pos, 'a control character inside a string must be escaped');
}

/** A key or value at byte `pos` is refused. @param what is wrong with it, without a full stop. */
export function unfit(pos: number, what: string): ScanFault {
  return { fault: `In the body, at byte ${pos}, ${what}.` };
}

/**
 * Why bytes [from, until) of the body are not UTF-8 text without a byte order mark; null: they are.
 * @param from the start of a character, as `until`.
 */
export function encodingFault(bytes: Buffer, from: number, until: number): ScanFault | null {
  if (from === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return { fault: 'The body starts with a byte order mark; send the JSON object without it.' };
  }
  const part = bytes.subarray(from, until);
  return isUtf8(part)
    ? null
    : {
        fault: `The body is not valid UTF-8 at byte ${from + firstInvalidByte(part)}; encode it as UTF-8.`,
      };
}

/** Offset of the character that is not UTF-8: the longest valid prefix, found by halving. */
function firstInvalidByte(bytes: Buffer): number {
  let valid = 0;
  let invalid = bytes.length;
  while (invalid - valid > 4) {
    const middle = characterStart(bytes, (valid + invalid) >>> 1);
    if (middle <= valid) break;
    if (isUtf8(bytes.subarray(valid, middle))) valid = middle;
    else invalid = middle;
  }
  while (valid < invalid && isUtf8(bytes.subarray(0, valid + 1))) valid++;
  return valid;
}

/** Where the character starts that the byte at `index` belongs to; `index` at the end of the bytes. */
export function characterStart(bytes: Buffer, index: number): number {
  let start = index;
  while (start > 0 && start > index - 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}
