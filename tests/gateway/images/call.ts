import { crc32 } from 'node:zlib';
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { divideUp } from '#lib/core/money';

/** Rates of sandbox/picture, nano-dollars a token: $5, $10, $12 and $40 a million. */
const rates = { textIn: 5_000n, imageIn: 10_000n, textOut: 12_000n, imageOut: 40_000n };

export type Usage = NonNullable<OpenAI.ImagesResponse['usage']>;

/** What usages that a provider reported cost together, computed apart from the gateway's own code. */
export function fairPictureNano(usages: readonly (Usage | undefined)[]): bigint {
  let nano = 0n;
  for (const usage of usages) {
    if (!usage) throw new Error('no usage was reported');
    const { text_tokens: textIn, image_tokens: imageIn } = usage.input_tokens_details;
    const out = usage.output_tokens_details;
    nano += BigInt(textIn) * rates.textIn + BigInt(imageIn) * rates.imageIn;
    nano += BigInt(out?.text_tokens ?? 0) * rates.textOut;
    nano += BigInt(out?.image_tokens ?? usage.output_tokens) * rates.imageOut;
  }
  return divideUp(nano, 1n);
}

/** A file of so many bytes that no text is, with everything in it that delimiters are made of. */
export function pictureFile(name: string, bytes: number): Promise<File> {
  const nasty = Buffer.from('\x89PNG\r\n\x1a\n\r\n--\r\n----formdata-undici-\r\n--x\0\xff', 'latin1');
  return toFile(Buffer.alloc(bytes, nasty), name, { type: 'image/png' });
}

/** Whether base64 holds a PNG whose chunks are whole and end as they must. */
export function isPng(base64: string | undefined): boolean {
  const bytes = Buffer.from(base64 ?? '', 'base64');
  let at = 8;
  let last = '';
  while (at < bytes.length) {
    const length = bytes.readUInt32BE(at);
    const typed = bytes.subarray(at + 4, at + 8 + length);
    if (bytes.readUInt32BE(at + 8 + length) !== crc32(typed)) return false;
    last = typed.toString('latin1', 0, 4);
    at += length + 12;
  }
  return bytes.subarray(1, 4).toString() === 'PNG' && last === 'IEND';
}
