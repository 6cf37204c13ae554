/** Tokens of a string: one per four bytes, rounded up. Simple on purpose, so that tests can predict it. */
export function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** A picture by its `detail`, as the chat family counts small ones. */
export function imageTokens(detail: unknown): number {
  return detail === 'low' ? 85 : 765;
}

/** Audio in base64: one token per 400 bytes of sound. */
export function audioTokens(base64: string): number {
  return Math.ceil((base64.length * 3) / 4 / 400);
}
