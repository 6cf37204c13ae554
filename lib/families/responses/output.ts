import { type JsonObject, listIn, objectIn } from '#lib/families/reading/json';

/** UTF-8 bytes of what a whole response generated: text, reasoning, tool arguments. */
export function responseOutputBytes(answer: unknown): number {
  let bytes = 0;
  for (const item of listIn(objectIn(answer)?.output)) bytes += itemBytes(objectIn(item));
  return bytes;
}

/** Bytes of one item of the output; results of tools and pictures are no generated text. */
export function itemBytes(item: JsonObject | null): number {
  if (item === null) return 0;
  let bytes = bytesOf(item.name) + bytesOf(item.arguments) + bytesOf(item.input) + bytesOf(item.code);
  for (const part of [...listIn(item.content), ...listIn(item.summary)]) {
    const fields = objectIn(part);
    bytes += bytesOf(fields?.text) + bytesOf(fields?.refusal) + bytesOf(fields?.transcript);
  }
  return bytes;
}

/** What an event adds to the output: every kind of delta in words; sound and pictures come as base64. */
export function deltaBytes({ type, delta }: JsonObject): number {
  if (typeof type !== 'string' || !type.endsWith('.delta') || type.endsWith('.audio.delta')) return 0;
  return bytesOf(delta);
}

function bytesOf(value: unknown): number {
  return typeof value === 'string' ? Buffer.byteLength(value) : 0;
}
