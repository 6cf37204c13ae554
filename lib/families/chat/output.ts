import { type JsonObject, listIn, objectIn } from '#lib/families/reading/json';

/** UTF-8 bytes of what a whole chat answer generated: text, reasoning, tool arguments. */
export function chatOutputBytes(answer: unknown): number {
  let bytes = 0;
  for (const choice of listIn(objectIn(answer)?.choices)) bytes += choiceBytes(objectIn(choice));
  return bytes;
}

/** Bytes of one choice, of a whole answer (`message`) or of a chunk (`delta`, which wins). */
export function choiceBytes(choice: JsonObject | null): number {
  if (choice === null) return 0;
  const said = objectIn(choice.delta) ?? objectIn(choice.message);
  let bytes = textBytes(choice.text);
  if (said === null) return bytes;
  bytes += textBytes(said.content) + textBytes(said.refusal);
  // Dialects name the same thinking twice; counted once.
  bytes += textBytes(said.reasoning_content ?? said.reasoning);
  bytes += textBytes(objectIn(said.audio)?.transcript);
  const calls = listIn(said.tool_calls).map((call) => objectIn(objectIn(call)?.function));
  for (const call of [...calls, objectIn(said.function_call)]) {
    if (call) bytes += textBytes(call.name) + textBytes(call.arguments);
  }
  return bytes;
}

/** A string, or a list of parts with texts. */
function textBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  let bytes = 0;
  for (const part of listIn(value)) {
    const fields = objectIn(part);
    bytes += textBytes(fields?.text ?? fields?.thinking);
  }
  return bytes;
}
