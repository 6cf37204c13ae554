import { errorObjects } from '#lib/core/families/reading/error-texts';
import { type JsonObject, listIn, objectIn, textIn } from '#lib/core/families/reading/json';

/** How much of a message is looked at: the call log keeps less. */
const MESSAGE_CHARS = 2000;
/** A code is a name, so that a sentence, or what a client wrote, is none. */
const unreadable = /[^\P{Cc}\s]|\ufffd/u;
const name = /^[\w.:/-]{1,64}$/;

/** What a provider says of its error, as it says it (contract: call-log/provider-error). */
export interface ErrorWords {
  /** The most telling code, type or reason; null: none. */
  readonly code: string | null;
  /** Its message, not masked: for the call log `maskedMessage` does that. null: none. */
  readonly message: string | null;
}

/** @param body parsed JSON, the text of a body that is none, or null. */
export function errorWords(body: unknown): ErrorWords {
  // What an aggregator passes on says more than the aggregator, and an error more than what it stands in.
  const objects = errorObjects(body, 0).toReversed();
  return {
    code: codeIn(objects.flatMap(codesOf)),
    message: first(objects.map(messageOf)) ?? plainText(body),
  };
}

/** A reason or a name before a number that may be the status again. */
function codeIn(codes: readonly string[]): string | null {
  return codes.find((code) => !/^\d{3}$/.test(code) && code !== 'error') ?? codes[0] ?? null;
}

function codesOf(one: JsonObject): readonly string[] {
  const reasons = listIn(one.details).map((detail) => objectIn(detail)?.reason);
  const all = [...reasons, one.code, objectIn(one.details)?.error_code, one.type, one.error_type, one.status];
  return all
    .filter((code) => typeof code === 'string' || typeof code === 'number')
    .map(String)
    .filter((code) => name.test(code));
}

function messageOf(one: JsonObject): string | null {
  // Of a code only one that is a sentence (xAI); of a list of faults (FastAPI) the first.
  const code = textIn(one.code)?.includes(' ') ? one.code : null;
  const detail = objectIn(listIn(one.detail)[0])?.msg ?? one.detail;
  return first([one.message, one.error, detail, code, one.status_msg].map(textIn));
}

function first(texts: readonly (string | null)[]): string | null {
  return (
    texts
      .find((text) => text !== null)
      ?.trimStart()
      .slice(0, MESSAGE_CHARS) ?? null
  );
}

/** A body that is text, such as a proxy's; no page of HTML, and no bytes. */
function plainText(body: unknown): string | null {
  const text = textIn(body)?.trimStart() ?? '';
  return text === '' || text.startsWith('<') || unreadable.test(text) ? null : clipped(text);
}

/** Ends with a whole word, lest half a key be no key any more. */
function clipped(text: string): string {
  return text.length <= MESSAGE_CHARS ? text : text.slice(0, MESSAGE_CHARS).replace(/\s\S*$/, '');
}
