import { promisify } from 'node:util';
import {
  brotliDecompress,
  gunzip,
  inflate,
  constants as zlib,
  zstdCompress,
  zstdCompressSync,
  zstdDecompress,
} from 'node:zlib';
import { z } from 'zod';
import { type CopiedSide, MOST_KEPT } from '#lib/gateway/content/copy';
import { withoutData } from '#lib/gateway/content/pure/without-data';
import { openBytes, type SealingKey, sealBytes } from '#lib/platform/sealing';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
/** Compressing shorter content would take longer than it saves, UTF-16 units. */
const SHORT = 2_048;
/** Longer content is compressed in a thread, so that the event loop is not held for more than about a millisecond. */
const LONG = 131_072;
/** The first byte of JSON; compressed content begins otherwise. */
const BRACE = 123;

/** A request or an answer as it is kept. */
const keptSide = z.object({
  contentType: z.string(),
  /** null: it is not text in UTF-8. */
  text: z.string().nullable(),
  /** Bytes as they were copied, before data was replaced. */
  bytes: z.int(),
  cut: z.boolean(),
});
const keptContent = z.object({ request: keptSide, answer: keptSide });
export type KeptSide = z.output<typeof keptSide>;
export type KeptContent = z.output<typeof keptContent>;

const contextOf = (workspaceId: string, callId: string) => `call-content:${workspaceId}/${callId}`;

/** Whose content it is. */
export interface ContentOwner {
  readonly workspaceId: string;
  readonly callId: string;
}

/** A call's content as it is kept, and not yet masked. */
export async function contentOf({
  request,
  answer,
}: {
  readonly request: CopiedSide;
  readonly answer: CopiedSide;
}): Promise<KeptContent> {
  return { request: await keptOf(request), answer: await keptOf(answer) };
}

/** Compresses content, unless it is short, and seals it (contract: content/sealed). */
export async function sealContent(
  { workspaceId, callId }: ContentOwner,
  content: KeptContent,
  key: SealingKey,
): Promise<Buffer> {
  const text = JSON.stringify(content);
  const packed = await packedOf(text);
  return sealBytes(packed, key, contextOf(workspaceId, callId));
}

async function packedOf(text: string): Promise<Buffer> {
  if (text.length < SHORT) return Buffer.from(text);
  // Handing it to a thread takes as long as compressing it.
  return text.length < LONG ? zstdCompressSync(text) : await compress(text);
}

/** @throws Error if it was sealed with another key, or altered. */
export async function openContent(
  { workspaceId, callId }: ContentOwner,
  sealed: Uint8Array,
  key: SealingKey,
): Promise<KeptContent> {
  const { plain } = openBytes(sealed, key, contextOf(workspaceId, callId));
  const text = plain[0] === BRACE ? plain : await decompress(plain);
  return keptContent.parse(JSON.parse(text.toString('utf8')));
}

async function keptOf({ contentType, coding, data, cut }: CopiedSide): Promise<KeptSide> {
  const decoded = await undo(coding, data);
  const facts = { contentType, bytes: data.length, cut: cut || decoded.cut };
  if (decoded.data === null) return { ...facts, text: null };
  const text = utf8(decoded.data, facts.cut);
  return { ...facts, text: text === null ? null : withoutData(text) };
}

/** null: it is not text. @param cut the last character may be incomplete. */
function utf8(data: Buffer, cut: boolean): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(data, { stream: cut });
  } catch {
    return null;
  }
}

const flushing = { maxOutputLength: MOST_KEPT, finishFlush: zlib.Z_SYNC_FLUSH };
const decoders: Readonly<Record<string, (data: Buffer) => Promise<Buffer>>> = {
  gzip: (data) => promisify(gunzip)(data, flushing),
  deflate: (data) => promisify(inflate)(data, flushing),
  br: (data) =>
    promisify(brotliDecompress)(data, {
      maxOutputLength: MOST_KEPT,
      finishFlush: zlib.BROTLI_OPERATION_FLUSH,
    }),
  zstd: (data) => promisify(zstdDecompress)(data, { maxOutputLength: MOST_KEPT }),
};

/** A coding that is unknown or too large when it is undone leaves nothing that could be shown. */
async function undo(
  coding: string,
  data: Buffer,
): Promise<{ readonly data: Buffer | null; readonly cut: boolean }> {
  if (coding === '' || coding === 'identity') return { data, cut: false };
  try {
    return { data: (await decoders[coding]?.(data)) ?? null, cut: false };
  } catch {
    return { data: null, cut: true };
  }
}
