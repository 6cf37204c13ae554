import { type JsonObject, listIn, objectIn, parseJson, textIn } from '#lib/core/families/reading/json';

/** How much of a message is read: the rest may quote the client. */
const MESSAGE_CHARS = 200;
/** Where a message may name a wait: some list limits before it. */
const WAIT_CHARS = 1000;

/** What an error body says, in lower case, wherever the known dialects put it. */
export interface ErrorTexts {
  /** Codes, types, names of a status and reasons; numbers as text. */
  readonly codes: readonly string[];
  /** The starts of messages. */
  readonly messages: readonly string[];
  /** The same messages, longer, and waits that stand in fields of their own ("17s"). */
  readonly waits: readonly string[];
  /** The field of the request that the error is about; null: none is named. */
  readonly param: string | null;
}

/** @param body parsed JSON; null where it was none. */
export function errorTexts(body: unknown): ErrorTexts {
  const objects = errorObjects(body, 0);
  const messages = objects.flatMap(messagesOf);
  return {
    codes: objects.flatMap(codesOf),
    messages: messages.map((text) => text.slice(0, MESSAGE_CHARS)),
    waits: [...messages.map((text) => text.slice(0, WAIT_CHARS)), ...objects.flatMap(delaysOf)],
    param: objects.map(({ param }) => textIn(param)).find((name) => name !== null) ?? null,
  };
}

/**
 * The objects that may describe the error: the body or the first element of a list, its `error`, that of a response, a
 * choice or an item of `errors`, and the provider's own that an aggregator passes on as text.
 */
export function errorObjects(body: unknown, depth: number): readonly JsonObject[] {
  const outer = objectIn(listIn(body)[0] ?? body);
  if (outer === null) return [];
  const inner = [
    outer.error,
    objectIn(outer.response)?.error,
    objectIn(listIn(outer.choices)[0])?.error,
    listIn(outer.errors)[0],
    outer.base_resp,
  ]
    .map(objectIn)
    .filter((one) => one !== null);
  const raws = inner.map((one) => textIn(objectIn(one.metadata)?.raw)).filter((raw) => raw !== null);
  return [outer, ...inner, ...(depth === 0 ? raws.flatMap((raw) => errorObjects(parseJson(raw), 1)) : [])];
}

function codesOf(one: JsonObject): readonly string[] {
  const reasons = listIn(one.details).map((detail) => objectIn(detail)?.reason);
  const all = [one.code, one.type, one.status, one.error_type, objectIn(one.details)?.error_code, ...reasons];
  return all
    .filter((code) => typeof code === 'string' || typeof code === 'number')
    .map((code) => String(code).slice(0, MESSAGE_CHARS).toLowerCase());
}

function messagesOf(one: JsonObject): readonly string[] {
  // Of a code only one that is a sentence (xAI).
  const code = textIn(one.code)?.includes(' ') ? one.code : null;
  return [one.message, one.error, one.detail, code, one.status_msg].flatMap(
    (text) => textIn(text)?.trimStart().slice(0, WAIT_CHARS).toLowerCase() ?? [],
  );
}

/** Waits in fields: Google's RetryInfo, and seconds as a number. */
function delaysOf(one: JsonObject): readonly string[] {
  const delays = listIn(one.details).flatMap((detail) => textIn(objectIn(detail)?.retryDelay) ?? []);
  const seconds = [one.retry_after, objectIn(one.metadata)?.retry_after].filter(
    (value) => typeof value === 'number' && value >= 0,
  );
  return [...delays.map((delay) => `retry in ${delay}`), ...seconds.map((value) => `retry in ${value}s`)];
}
