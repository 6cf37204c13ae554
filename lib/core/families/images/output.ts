import type { Ask } from '#lib/core/families/family';
import { outputTokensOf } from '#lib/core/families/images/tokens';
import { type JsonObject, listIn, objectIn, textIn } from '#lib/core/families/reading/json';

/** The meter counts output in bytes of text, four to a token; pictures are counted as if they were text. */
const BYTES_PER_TOKEN = 4;
/** A partial image costs about this many tokens at the provider. */
export const PARTIAL_TOKENS = 100;
export const PARTIAL_BYTES = PARTIAL_TOKENS * BYTES_PER_TOKEN;

/** Bytes that represent the pictures of a whole answer, for an estimate. */
export function imagesOutputBytes(answer: unknown): number {
  const body = objectIn(answer);
  return body === null ? 0 : listIn(body.data).length * imageBytes(body, null);
}

/** Bytes that represent one picture, by its size and quality. */
export function imageBytes(body: JsonObject, ask: Ask | null): number {
  const said = (name: 'size' | 'quality') => textIn(body[name]) ?? textIn(ask?.scan.found.get(name)?.value);
  return outputTokensOf(said('size'), said('quality')) * BYTES_PER_TOKEN;
}
