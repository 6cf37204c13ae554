import { byteAt, type Text, textOf } from '#lib/core/families/scan/text';

/** Strings longer than this many bytes may be inline media (contract: money/media-weight). */
export const LONG_STRING_BYTES = 1024;

/** Longest key for which a long string is examined as media, bytes. */
export const MAX_MEDIA_KEY_BYTES = 256;

/** Keys next to a long string that name its media type. */
const mediaKeys = ['media_type', 'mime_type', 'mimeType', 'format'].map((key) => Buffer.from(key));

/** Whether the key in bytes [start, end) names a media type. */
export function isMediaKey(body: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  if (length < 6 || length > 10 || length === 7) return false;
  return mediaKeys.some((key) => key.length === length && key.every((c, i) => c === body[start + i]));
}

/** 1 for the characters of both base64 alphabets. */
const base64 = new Uint8Array(256);
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') {
  base64[c.charCodeAt(0)] = 1;
}

/** The offset of the padding of a base64 string that ends at `end`; `end` without padding. */
export function paddingStart(body: Uint8Array, start: number, end: number): number {
  let last = end;
  while (last > start && last > end - 2 && body[last - 1] === 0x3d) last--;
  return last;
}

/** 1 for two characters of them, as a 16-bit number. */
const base64Pairs = new Uint8Array(65_536);
for (let pair = 0; pair < base64Pairs.length; pair++) {
  base64Pairs[pair] = byteAt(base64, pair & 0xff) & byteAt(base64, pair >> 8);
}

/**
 * Where base64 ends in a string, at the latest a few bytes after `until`. Escaped slashes and escaped line breaks are
 * accepted, as some encoders write them.
 */
export function base64End({ bytes, view, quick }: Text, from: number, until: number): number {
  let i = from;
  for (;;) {
    if (quick !== null) i = quick.base64End(i, until);
    i = plainBase64End(bytes, view, i, until);
    if (i >= until || byteAt(bytes, i) !== 0x5c) return i;
    const letter = bytes[i + 1];
    if (letter !== 0x2f && letter !== 0x6e && letter !== 0x72) return i;
    i += 2;
  }
}

/** A function of its own, as `plainEnd`. */
function plainBase64End(bytes: Uint8Array, view: DataView, from: number, until: number): number {
  let i = from;
  while (i + 2 <= until && byteAt(base64Pairs, view.getUint16(i, true)) === 1) i += 2;
  if (i < until && byteAt(base64, byteAt(bytes, i)) === 1) i++;
  return i;
}

/**
 * A data URL's media type and where its data starts; null when the string is not a data URL.
 * @param start of a string of over 1 KiB.
 */
export function dataUrl(body: Buffer, start: number): { mediaType: string | null; dataStart: number } | null {
  if ((byteAt(body, start) | 0x20) !== 0x64) return null;
  const head = body.toString('latin1', start, start + 5).toLowerCase();
  if (head !== 'data:') return null;
  const comma = body.subarray(start, start + 513).indexOf(0x2c);
  if (comma < 0) return null;
  const mediaType = textOf(body, start + 5, start + comma)
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  return { mediaType: mediaType ? mediaType : null, dataStart: start + comma + 1 };
}
