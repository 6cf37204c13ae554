import { type JsonObject, listIn, objectIn, textBytes } from '#lib/core/families/reading/json';

/** UTF-8 bytes of what an answer generated: text, thoughts, arguments, code; the bytes of media are not text. */
export function contentOutputBytes(answer: unknown): number {
  let bytes = 0;
  for (const chunk of Array.isArray(answer) ? answer : [answer]) {
    for (const candidate of listIn(objectIn(chunk)?.candidates)) {
      for (const part of listIn(objectIn(objectIn(candidate)?.content)?.parts)) {
        bytes += partBytes(objectIn(part));
      }
    }
  }
  return bytes;
}

function partBytes(part: JsonObject | null): number {
  if (part === null) return 0;
  let bytes = textBytes(part.text) + textBytes(objectIn(part.executableCode)?.code);
  for (const called of [objectIn(part.functionCall), objectIn(part.toolCall)]) {
    if (called === null) continue;
    bytes += textBytes(called.name) + (objectIn(called.args) ? textBytes(JSON.stringify(called.args)) : 0);
  }
  return bytes;
}

/**
 * Whether a chunk says something (contract: routing/begun): a part that is more than an empty text, or a prompt that
 * was blocked, which is a refusal.
 */
export function contentSays(chunk: JsonObject): boolean {
  if (objectIn(chunk.promptFeedback)?.blockReason) return true;
  for (const candidate of listIn(chunk.candidates)) {
    for (const value of listIn(objectIn(objectIn(candidate)?.content)?.parts)) {
      const part = objectIn(value);
      for (const name in part) {
        if (name !== 'thought' && part[name] !== '' && part[name] !== null) return true;
      }
    }
  }
  return false;
}
