import { type JsonObject, listIn, objectIn } from '#lib/core/families/reading/json';

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

/** Whether a choice says something: any part of its delta or message but the role (contract: routing/begun). */
export function choiceSays(choice: JsonObject): boolean {
  if (typeof choice.text === 'string' && choice.text !== '') return true;
  const said = objectIn(choice.delta) ?? objectIn(choice.message);
  for (const name in said) {
    const value = said[name];
    if (name === 'role' || value === null || value === '' || (Array.isArray(value) && value.length === 0)) {
      continue;
    }
    return true;
  }
  return false;
}

/**
 * The error in a choice, as OpenRouter reports a provider that failed after its headers; undefined: none.
 */
export function choiceError(choice: JsonObject): unknown {
  if ((choice.error ?? null) !== null) return choice.error;
  return choice.finish_reason === 'error' ? {} : undefined;
}

/** The error in a whole chat answer; undefined: none. */
export function chatErrorIn(answer: unknown): unknown {
  const body = objectIn(answer);
  if ((body?.error ?? null) !== null) return body?.error;
  for (const value of listIn(body?.choices)) {
    const choice = objectIn(value);
    const error = choice === null ? undefined : choiceError(choice);
    if (error !== undefined) return error;
  }
  return undefined;
}
