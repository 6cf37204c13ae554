import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const SIDE = 8;

/**
 * A small valid PNG whose colors depend on the text.
 * @param bytes its minimum size: a private chunk fills it up.
 */
export function pngOf(text: string, bytes: number): Buffer {
  const colours = createHash('sha256').update(text).digest();
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  // Eight bits a channel, red, green and blue.
  header.set([8, 2, 0, 0, 0], 8);
  const rows = Array.from({ length: SIDE }, (_, row) =>
    Buffer.from([0, ...Array.from({ length: SIDE * 3 }, (_, at) => colours[(row * 7 + at) % 32] ?? 0)]),
  );
  const parts = [signature, chunk('IHDR', header), chunk('IDAT', deflateSync(Buffer.concat(rows)))];
  const end = chunk('IEND', Buffer.alloc(0));
  const small = Buffer.concat([...parts, end]);
  const rest = bytes - small.length - 12;
  return rest <= 0 ? small : Buffer.concat([...parts, chunk('paDd', Buffer.alloc(rest, 0x61)), end]);
}

function chunk(kind: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
