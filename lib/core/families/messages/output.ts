import { type JsonObject, listIn, objectIn, textBytes } from '#lib/core/families/reading/json';

/** UTF-8 bytes of what a whole message generated: text, thinking, tool names and their input. */
export function messageOutputBytes(answer: unknown): number {
  let bytes = 0;
  for (const value of listIn(objectIn(answer)?.content)) {
    const block = objectIn(value);
    if (block) bytes += blockBytes(block) + inputBytes(block);
  }
  return bytes;
}

/** What a content block says at its start; results of tools are input, not output. */
export function blockBytes({ type, text, thinking, name }: JsonObject): number {
  if (type === 'text') return textBytes(text);
  if (type === 'thinking') return textBytes(thinking);
  return typeof type === 'string' && type.endsWith('tool_use') ? textBytes(name) : 0;
}

/** What one delta adds to its block; citations and signatures are not generated text. */
export function deltaBytes({ text, thinking, partial_json: json }: JsonObject): number {
  return textBytes(text) + textBytes(thinking) + textBytes(json);
}

function inputBytes({ type, input }: JsonObject): number {
  const called = typeof type === 'string' && type.endsWith('tool_use');
  return called && objectIn(input) ? Buffer.byteLength(JSON.stringify(input)) : 0;
}

/**
 * Whether a block says something at its start (contract: routing/begun): a text or thinking begins empty, a tool call
 * or a redacted thought does not.
 */
export function blockSays(block: JsonObject | null): boolean {
  if (block === null) return false;
  if (block.type === 'text') return block.text !== '';
  return block.type !== 'thinking' || block.thinking !== '';
}

/** Whether a delta says something: any of its values but the type is not empty. */
export function deltaSays(delta: JsonObject | null): boolean {
  for (const name in delta) {
    if (name !== 'type' && delta[name] !== '' && delta[name] !== null) return true;
  }
  return false;
}
