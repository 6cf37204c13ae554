import { byteAt, textOf } from '#lib/core/families/scan/text';

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

/**
 * Checks that string bytes are base64, up to `until`. Escaped slashes and escaped line breaks are accepted, as some
 * encoders write them.
 * @returns the offset reached; -1 when they are not base64.
 */
export function readBase64(body: Uint8Array, from: number, until: number): number {
  let i = from;
  for (;;) {
    while (i < until && byteAt(base64, byteAt(body, i)) === 1) i++;
    if (i >= until) return i;
    const letter = body[i + 1];
    if (body[i] !== 0x5c || (letter !== 0x2f && letter !== 0x6e && letter !== 0x72)) return -1;
    i += 2;
  }
}

/** A data URL's media type and where its data starts; null when the string is not a data URL. */
export function dataUrl(
  body: Buffer,
  start: number,
  end: number,
): { mediaType: string | null; dataStart: number } | null {
  const head = body.toString('latin1', start, start + 5).toLowerCase();
  if (head !== 'data:') return null;
  const comma = body.indexOf(0x2c, start);
  if (comma < 0 || comma >= end || comma > start + 512) return null;
  const mediaType = textOf(body, start + 5, comma)
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  return { mediaType: mediaType ? mediaType : null, dataStart: comma + 1 };
}
