import { listIn, objectIn } from '#lib/families/reading/json';

const invalidKey = /api[_ ]?key[_ ](is[_ ])?(not[_ ]valid|invalid)|(invalid|incorrect)[_ ]api[_ ]?key/i;

/** How much of a message is read: the rest may quote the client. */
const MESSAGE_CHARS = 120;

/**
 * Whether an error body says that the API key is wrong: some providers answer that with 400
 * (contract: families/operator-fault). Reads codes, reasons and the start of the message, wherever the known dialects
 * put them.
 */
export function namesInvalidKey(body: unknown): boolean {
  const outer = objectIn(listIn(body)[0] ?? body);
  if (outer === null) return false;
  const error = objectIn(outer.error);
  const details = listIn(error?.details).map((detail) => objectIn(detail)?.reason);
  const texts = [outer.code, outer.error, error?.code, error?.status, error?.message, ...details];
  return texts.some((text) => typeof text === 'string' && invalidKey.test(text.slice(0, MESSAGE_CHARS)));
}
