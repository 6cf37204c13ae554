import { createCredentialMask } from '#lib/core/relay/credential-mask';
import { withoutEcho } from '#lib/gateway/flow/attempt/without-echo';

/** Bytes of a message that the call log keeps. */
const MOST_BYTES = 300;
/** What is looked at of it: masks may shorten it. */
const MOST_CHARS = 600;
const masked = '…';

const quotes = '"“”„«»`\'‘’';
/** A quotation does not begin after a letter, so that an apostrophe is not taken for one. */
const opening = new RegExp(`(?<![\\p{L}\\p{N}])[${quotes}]`, 'gu');
/** What may be quoted: the name of a field, a model or a value. */
const quotedName = new RegExp(`^[\\w.:/@$[\\]-]{1,100}[${quotes}](?![\\p{L}\\p{N}])`, 'u');
const lastQuote = new RegExp(`^.*[${quotes}]`, 'su');
/** Where a request is repeated as data, in JSON or as printed by Python. */
const data = /(\{|\[(?=[\s"'{[])|\b(input|input_value)=).*/su;

const secrets: readonly RegExp[] = [
  // Keys of known forms, and what a provider has already masked.
  /\b(sk|pk|rk|mg|mgk|gsk|xai|hf|key|token)[-_][\w-]{8,}/gi,
  /\bBearer\s+\S+/gi,
  /[\w-]*\*{2,}[\w*-]*/g,
  /[^\s@"'<>()]+@[^\s@"'<>()]+\.\w+/g,
  // Long tokens: letters and digits mixed, or only digits.
  /[\w+/=-]*(?=[A-Za-z\d]{16})(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z\d]{16,}[\w+/=-]*/g,
  /\d{16,}/g,
];
const address = /\b(https?:\/\/)(?:[^\s/@]*@)?([^\s?#"'<>]*)(?:[?#][^\s"'<>]*)?/g;

/** What a message of a provider must not repeat. */
export interface Unrepeatable {
  readonly credential: string;
  /** The client's body; empty if it is not in memory. */
  readonly request: Uint8Array;
}

/**
 * The start of a provider's message for the call log, without credentials, addresses of people, long tokens, quotations
 * and parts of the request (contract: call-log/provider-error).
 */
export function maskedMessage(message: string, { credential, request }: Unrepeatable): string {
  const bytes = Buffer.from(message);
  const mask = createCredentialMask(credential);
  let text = (mask ? Buffer.concat([...mask.push(bytes), ...mask.flush()]) : bytes).toString();
  // Before quotations are cut, because cutting them would leave the ends of repeated text.
  text = withoutEcho(clipped(text.replace(data, masked)), request, masked);
  text = withoutQuotation(text).replace(address, '$1$2');
  for (const secret of secrets) text = text.replace(secret, masked);
  return firstBytes(text.replace(/\s+/g, ' ').trim());
}

/**
 * Cuts from the first quotation that is not a name to the last quotation mark: what is inside may contain more of them.
 */
function withoutQuotation(text: string): string {
  for (const { index } of text.matchAll(opening)) {
    const inside = text.slice(index + 1);
    if (quotedName.test(inside)) continue;
    const end = lastQuote.exec(inside)?.[0].length ?? inside.length;
    return text.slice(0, index) + masked + inside.slice(end);
  }
  return text;
}

/** Ends with a whole word, because half a key could no longer be recognized as one. */
function clipped(text: string): string {
  return text.length <= MOST_CHARS ? text : text.slice(0, MOST_CHARS).replace(/\s\S*$/, ' ') + masked;
}

/** Ends with a whole character. */
function firstBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MOST_BYTES) return text;
  let end = MOST_BYTES - Buffer.byteLength(masked);
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end) + masked;
}
