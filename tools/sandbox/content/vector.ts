import { createHash } from 'node:crypto';

/** A unit vector that depends only on the text, so that equal texts have equal ones. */
export function vectorOf(text: string, dimensions: number): number[] {
  const values: number[] = [];
  for (let block = 0; values.length < dimensions; block++) {
    const digest = createHash('sha256').update(`${block}\n${text}`).digest();
    for (const byte of digest) values.push(byte / 127.5 - 1);
  }
  const kept = values.slice(0, dimensions);
  const length = Math.hypot(...kept) || 1;
  return kept.map((value) => value / length);
}

/** Its values as 32-bit floats, the lowest byte first, in Base64. */
export function base64Of(vector: readonly number[]): string {
  return Buffer.from(new Float32Array(vector).buffer).toString('base64');
}

/** How alike two unit vectors are, from 0 to 1. */
export function likeness(one: readonly number[], other: readonly number[]): number {
  const product = one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
  return Math.min(1, Math.max(0, (product + 1) / 2));
}
