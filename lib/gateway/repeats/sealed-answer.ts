import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { z } from 'zod';
import type { CopiedAnswer } from '#lib/gateway/repeats/answer-copy';
import { openBytes, type SealingKey, sealBytes } from '#lib/platform/sealing';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

const factsShape = z.object({
  status: z.int(),
  headers: z.array(z.string()),
  /** What answered: only that may answer from the cache (contract: repeats/route). */
  offerId: z.string(),
  priceId: z.string(),
  model: z.string(),
  provider: z.string(),
  /** What the call that made it was charged, nano-dollars. */
  costNano: z.string().transform(BigInt),
});

/** An answer with what is known of the call that made it. */
export interface MadeAnswer extends CopiedAnswer {
  readonly offerId: string;
  readonly priceId: string;
  readonly model: string;
  readonly provider: string;
  /** What the call that made it was charged, nano-dollars. */
  readonly costNano: bigint;
}

const lengthBytes = 4;
const contextOf = (workspaceId: string, name: Uint8Array) =>
  `kept-answer:${workspaceId}/${Buffer.from(name).toString('base64')}`;

/** Compresses and seals an answer for the database, bound to its workspace and name (contract: repeats/sealed). */
export async function sealAnswer(
  { body, costNano, ...facts }: MadeAnswer,
  key: SealingKey,
  { workspaceId, name }: { readonly workspaceId: string; readonly name: Uint8Array },
): Promise<Buffer> {
  const head = Buffer.from(JSON.stringify({ ...facts, costNano: String(costNano) }));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(head.length);
  return sealBytes(await compress(Buffer.concat([length, head, body])), key, contextOf(workspaceId, name));
}

/** @throws Error if it was sealed with another key, or altered. */
export async function openAnswer(
  sealed: Uint8Array,
  key: SealingKey,
  { workspaceId, name }: { readonly workspaceId: string; readonly name: Uint8Array },
): Promise<MadeAnswer> {
  const plain = await decompress(openBytes(sealed, key, contextOf(workspaceId, name)).plain);
  const bodyAt = lengthBytes + plain.readUInt32LE(0);
  const facts = factsShape.parse(JSON.parse(plain.toString('utf8', lengthBytes, bodyAt)));
  return { ...facts, body: plain.subarray(bodyAt) };
}
