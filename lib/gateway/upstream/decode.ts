import type { Transform } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  constants as zlib,
} from 'node:zlib';
import type { HeaderBag } from '#lib/gateway/upstream/headers';

/** As browsers and fetch do: a body whose coding lacks its end is still read as far as possible. */
const gzip = { flush: zlib.Z_SYNC_FLUSH, finishFlush: zlib.Z_SYNC_FLUSH };
const brotli = { flush: zlib.BROTLI_OPERATION_FLUSH, finishFlush: zlib.BROTLI_OPERATION_FLUSH };
const zstd = { finishFlush: zlib.ZSTD_e_flush };

/**
 * Undoes the coding of an answer that came compressed although `identity` was requested: else its usage could not
 * be read, and a host that frames answers itself would drop the one header that names it.
 * @returns null for an answer without content, a part of one, or one whose coding is unknown.
 */
export function decoderOf(status: number, headers: HeaderBag): Transform | null {
  if (status === 204 || status === 304 || status === 206) return null;
  switch (codingOf(headers)) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip(gzip);
    case 'deflate':
      return createInflate(gzip);
    case 'br':
      return createBrotliDecompress(brotli);
    case 'zstd':
      return createZstdDecompress(zstd);
    default:
      return null;
  }
}

/** What decodes an answer, and the headers of what it gives. */
export interface Decoded {
  readonly decoder: Transform;
  readonly headers: HeaderBag;
}

/** The headers of a decoded answer, without those of its coding and its former length. */
export function headersDecoded(headers: HeaderBag): HeaderBag {
  const { 'content-encoding': _coding, 'content-length': _length, ...rest } = headers;
  return rest;
}

/** How an answer is coded, in lower case; "": not at all. */
export function codingOf(headers: HeaderBag): string {
  const value = headers['content-encoding'];
  const coding = (typeof value === 'string' ? value : (value?.join(',') ?? '')).trim().toLowerCase();
  return coding === 'identity' ? '' : coding;
}
