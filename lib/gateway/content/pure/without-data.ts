import { createHash } from 'node:crypto';

/** Base64 of more than 2 KiB, also in base64url and with the escaped slashes of JSON. */
const longData = /(?:[A-Za-z0-9+/_-]|\\\/){2732,}={0,2}/g;

/**
 * Replaces data in Base64 of more than 2 KiB by its size and SHA-256 (contract: content/what), also in JSON that was
 * cut: `omitted-12345-bytes-sha256-…`, which has no character that JSON or Base64 in URLs would not have.
 */
export function withoutData(text: string): string {
  return text.replace(longData, (found) => {
    const data = found.replaceAll('\\/', '/');
    const bytes = Buffer.from(data, 'base64');
    // A long word is not data: of Base64, most characters vary.
    if (new Set(data.slice(0, 256)).size < 16) return found;
    return `omitted-${bytes.length}-bytes-sha256-${createHash('sha256').update(bytes).digest('hex')}`;
  });
}

const omitted = /^omitted-(\d+)-bytes-sha256-([0-9a-f]{64})$/;

/** What `withoutData` wrote in place of data; null: it is something else. */
export function omittedData(text: string): { readonly bytes: number; readonly sha256: string } | null {
  const [, bytes, sha256] = omitted.exec(text) ?? [];
  return bytes && sha256 ? { bytes: Number(bytes), sha256 } : null;
}
