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
/** Its first line, with the lengths of the texts that follow, UTF-16 units; null: there is none. */
const writtenSide = keptSide.extend({ length: z.int().nullable() });
const writtenContent = z.object({ request: writtenSide, answer: writtenSide });
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
  const packed = await packedOf(written(content));
  return sealBytes(packed, key, contextOf(workspaceId, callId));
}

/** Facts in a line of JSON, then the texts as they are: as strings of JSON they would take a third of all the time. */
function written({ request, answer }: KeptContent): string {
  const facts = {
    request: { ...request, text: null, length: request.text?.length ?? null },
    answer: { ...answer, text: null, length: answer.text?.length ?? null },
  };
  return `${JSON.stringify(facts)}\n${request.text ?? ''}${answer.text ?? ''}`;
}

function read(written: string): KeptContent {
  const line = written.indexOf('\n');
  // How it was written at first: JSON with everything in it, which has no line break.
  if (line < 0) return keptContent.parse(JSON.parse(written));
  const { request, answer } = writtenContent.parse(JSON.parse(written.slice(0, line)));
  const texts = written.slice(line + 1);
  const from = request.length ?? 0;
  return keptContent.parse({
    request: { ...request, text: request.length === null ? null : texts.slice(0, from) },
    answer: { ...answer, text: answer.length === null ? null : texts.slice(from, from + answer.length) },
  });
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
  return read(text.toString('utf8'));
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
