import { Refused } from '#lib/core/errors';
import type { FieldSpec, Scan } from '#lib/core/families/scan';
import type { BodySource } from '#lib/gateway/flow/lane';
import { readUpload } from '#lib/gateway/flow/upload/read-upload';
import type { Spool, SpoolRoom } from '#lib/gateway/flow/upload/spool';

const spec: FieldSpec = {
  model: {},
  n: { part: 'number' },
  stream: { part: 'boolean' },
  quality: {},
  svg: { fields: { model: {} } },
  images: { each: { file_id: {} } },
};

export interface MadePart {
  readonly name: string;
  readonly value: string | Buffer;
  readonly filename?: string;
  /** Further header lines. */
  readonly headers?: readonly string[];
}

/** A body as clients write it. */
export function formOf(boundary: string, parts: readonly MadePart[]): Buffer {
  const pieces = parts.flatMap(({ name, value, filename, headers = [] }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`,
    filename === undefined ? '' : `; filename="${filename}"`,
    ...headers.map((line) => `\r\n${line}`),
    '\r\n\r\n',
    value,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)));
}

/** Where bodies lie in these tests: in memory, since what is on disk is another test's matter. */
function memoryRoom(): SpoolRoom & { readonly open: () => Promise<Spool>; left(): number } {
  let left = 0;
  return {
    left: () => left,
    open: async () => {
      left += 1;
      const chunks: Buffer[] = [];
      return {
        append: async (chunk) => {
          chunks.push(Buffer.from(chunk));
        },
        received: () => {},
        read: async function* (start, end) {
          yield Buffer.concat(chunks).subarray(start, end);
        },
        remove: async () => {
          left -= 1;
        },
      };
    },
  };
}

/** Reads a body that comes in these pieces. @returns the scan, or the message of the refusal. */
export async function readForm(
  chunks: readonly Uint8Array[],
  options: {
    readonly boundary?: string;
    readonly contentType?: string;
    readonly fields?: FieldSpec;
  } = {},
): Promise<Scan | string> {
  const {
    boundary = 'b',
    contentType = `multipart/form-data; boundary=${boundary}`,
    fields = spec,
  } = options;
  const room = memoryRoom();
  const body: BodySource = {
    large: () => false,
    free: () => {},
    read: () => Promise.reject(new Error('a multipart body is poured')),
    pour: async (_limit, take) => {
      for (const chunk of chunks) await take(chunk);
    },
    onRelease: () => {},
    drop: () => {},
  };
  try {
    const { scan } = await readUpload(
      body,
      { contentType, fields, limit: 1e9, announced: null, keyId: 'key' },
      room,
    );
    return scan;
  } catch (error) {
    if (!(error instanceof Refused) || error.refusal.code !== 'invalid_body') throw error;
    if (room.left() > 0) throw new Error('a refused upload stayed on disk');
    return error.refusal.message;
  }
}

/** The bytes of an upload, as an attempt reads them. */
export async function bytesOf(scan: Scan, start = 0, end = scan.upload?.bytes ?? 0): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of scan.upload?.read(start, end) ?? []) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** A body in pieces of one size. */
export function inPieces(body: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) pieces.push(body.subarray(at, at + size));
  return pieces;
}
