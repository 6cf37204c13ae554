/** Tokens of a text: one for four bytes, rounded up. Simple on purpose, so that tests can predict it. */
export function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** A picture by its `detail`, as the chat family counts small ones. */
export function imageTokens(detail: unknown): number {
  return detail === 'low' ? 85 : 765;
}

/** Audio by its base64: one token for 400 bytes of sound. */
export function audioTokens(base64: string): number {
  return Math.ceil((base64.length * 3) / 4 / 400);
}
