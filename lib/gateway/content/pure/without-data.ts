import { createHash } from 'node:crypto';

/** Base64 of more than 2 KiB has at least so many characters. */
const FEWEST = 2_732;

/** Base64 and base64url, by character code. */
const isBase64 = new Uint8Array(128);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-')
  isBase64[character.charCodeAt(0)] = 1;
const BACKSLASH = 92;
const SLASH = 47;
const EQUALS = 61;

/**
 * Replaces data in Base64 of more than 2 KiB by its size and SHA-256 (contract: content/what), also in JSON that was
 * cut: `omitted-12345-bytes-sha256-…`, which has no character that JSON or Base64 in URLs would not have. Text without
 * data is hardly looked at: its time does not depend on its shape.
 */
export function withoutData(text: string): string {
  let kept = '';
  let copied = 0;
  for (let from = 0; from + FEWEST <= text.length; ) {
    const gap = lastGap(text, from, from + FEWEST - 1);
    if (gap >= 0) {
      from = gap + 1;
      continue;
    }
    const end = endOfData(text, from);
    const to = endOfPadding(text, end);
    const short = shortFor(text.slice(from, end), text.slice(end, to));
    if (short !== null) {
      kept += text.slice(copied, from) + short;
      copied = to;
    }
    from = to;
  }
  return copied === 0 ? text : kept + text.slice(copied);
}

/** Whether the character may be in data; JSON may escape a slash. */
function isData(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === BACKSLASH ? text.charCodeAt(at + 1) === SLASH : isBase64[code] === 1;
}

/** The last place from `first` to `last` that is not in data; -1: all are. */
function lastGap(text: string, first: number, last: number): number {
  for (let at = last; at >= first; at -= 1) if (!isData(text, at)) return at;
  return -1;
}

function endOfData(text: string, from: number): number {
  let end = from + FEWEST;
  while (end < text.length && isData(text, end)) end += 1;
  return end;
}

function endOfPadding(text: string, end: number): number {
  if (text.charCodeAt(end) !== EQUALS) return end;
  return text.charCodeAt(end + 1) === EQUALS ? end + 2 : end + 1;
}

/** null: it is no data. */
function shortFor(found: string, padding: string): string | null {
  // A long word is not data: of Base64, most characters vary.
  if (new Set(unescaped(found.slice(0, 512)).slice(0, 256)).size < 16) return null;
  const data = unescaped(found);
  if (data.length < FEWEST) return null;
  const bytes = Buffer.from(data + padding, 'base64');
  return `omitted-${bytes.length}-bytes-sha256-${createHash('sha256').update(bytes).digest('hex')}`;
}

function unescaped(data: string): string {
  return data.replaceAll('\\/', '/');
}

const omitted = /^omitted-(\d+)-bytes-sha256-([0-9a-f]{64})$/;

/** What `withoutData` wrote in place of data; null: it is something else. */
export function omittedData(text: string): { readonly bytes: number; readonly sha256: string } | null {
  const [, bytes, sha256] = omitted.exec(text) ?? [];
  return bytes && sha256 ? { bytes: Number(bytes), sha256 } : null;
}
