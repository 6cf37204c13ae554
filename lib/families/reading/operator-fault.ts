import { listIn, objectIn } from '#lib/families/reading/json';

const invalidKey = /api[_ ]?key[_ ](is[_ ])?(not[_ ]valid|invalid)|(invalid|incorrect)[_ ]api[_ ]?key/i;

/** How much of a message is read: the rest may quote the client. */
const MESSAGE_CHARS = 120;

/**
 * Whether an answer blames the gateway's operator and no client: a key that is wrong (401, some by 400), unpaid (402) or
 * not allowed (403), as most protocols say it. Another provider is tried then (contract: families/operator-fault).
 */
export function isOperatorFault(status: number, body: unknown): boolean {
  return status === 401 || status === 402 || status === 403 || (status === 400 && namesInvalidKey(body));
}

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
