import { type JsonObject, listIn, objectIn, parseJson, textIn } from '#lib/core/families/reading/json';

/** How much of a message decides: the rest may quote the client. */
const MESSAGE_CHARS = 200;
/** Where a message may name a wait: some list limits before it. */
const WAIT_CHARS = 1000;
/** How much of a message is looked at for the call log, which keeps less. */
const LOGGED_CHARS = 2000;
/** A code is a name: a sentence, or what a client wrote, is not. */
const codeName = /^[\w.:/-]{1,64}$/;
const unreadable = /[^\P{Cc}\s]|\ufffd/u;

/** What a provider says of its error, as it says it (contract: call-log/provider-error). */
export interface ErrorWords {
  /** The most telling code, type or reason; null: none. */
  readonly code: string | null;
  /** Its message, not masked: for the call log `maskedMessage` does that. null: none. */
  readonly message: string | null;
}

/** What an error body says, in lower case, wherever the known dialects put it. */
export interface ErrorTexts {
  /** Codes, types, names of a status and reasons; numbers as text. */
  readonly codes: readonly string[];
  /** The starts of messages. */
  readonly messages: readonly string[];
  /** The same messages, longer, and waits that have fields of their own ("17s"). */
  readonly waits: readonly string[];
  /** The field of the request that the error is about; null: none is named. */
  readonly param: string | null;
  readonly words: ErrorWords;
}

/** @param body parsed JSON, the text of a body that is not JSON, or null. */
export function errorTexts(body: unknown): ErrorTexts {
  const objects = errorObjects(body, 0);
  const messages = objects.flatMap((one) =>
    messagesOf(one, one.detail).map((text) => text.slice(0, WAIT_CHARS).toLowerCase()),
  );
  return {
    codes: objects.flatMap(codesOf).map((code) => code.slice(0, MESSAGE_CHARS).toLowerCase()),
    messages: messages.map((text) => text.slice(0, MESSAGE_CHARS)),
    waits: [...messages, ...objects.flatMap(delaysOf)],
    param: objects.map(({ param }) => textIn(param)).find((name) => name !== null) ?? null,
    words: wordsOf(objects, body),
  };
}

function wordsOf(objects: readonly JsonObject[], body: unknown): ErrorWords {
  // What an aggregator passes on says more than the aggregator, and an error more than the object that contains it.
  const inner = objects.toReversed();
  const codes = inner.flatMap(codesOf).filter((code) => codeName.test(code));
  const messages = inner.flatMap((one) =>
    // Of a list of faults (FastAPI) the first.
    messagesOf(one, objectIn(listIn(one.detail)[0])?.msg ?? one.detail),
  );
  return {
    // A reason or a name before a number that may be the status again.
    code: codes.find((code) => !/^\d{3}$/.test(code) && code !== 'error') ?? codes[0] ?? null,
    message: messages[0]?.slice(0, LOGGED_CHARS) ?? plainText(body),
  };
}

/**
 * The objects that may describe the error: the body or the first element of a list, its `error`, that of a response, a
 * choice or an item of `errors`, and the provider's own that an aggregator passes on as text.
 */
function errorObjects(body: unknown, depth: number): readonly JsonObject[] {
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
  const all = [...reasons, one.code, objectIn(one.details)?.error_code, one.type, one.error_type, one.status];
  return all.filter((code) => typeof code === 'string' || typeof code === 'number').map(String);
}

function messagesOf(one: JsonObject, detail: unknown): readonly string[] {
  // Of a code only one that is a sentence (xAI).
  const code = textIn(one.code)?.includes(' ') ? one.code : null;
  return [one.message, one.error, detail, code, one.status_msg].flatMap(
    (text) => textIn(text)?.trimStart() ?? [],
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

/** A body that is text, such as a proxy's; no HTML page, and no binary data. */
function plainText(body: unknown): string | null {
  const text = textIn(body)?.trimStart() ?? '';
  if (text === '' || text.startsWith('<') || unreadable.test(text)) return null;
  // Ends with a whole word, because half a key could no longer be recognized as one.
  return text.length <= LOGGED_CHARS ? text : text.slice(0, LOGGED_CHARS).replace(/\s\S*$/, '');
}
