import { createCredentialMask } from '#lib/relay/credential-mask';

/** Bytes of a message that the call log keeps. */
const MOST_BYTES = 300;
/** So many characters in a row that the request holds as well are the client's. */
const ECHO_CHARS = 32;
const STEP = ECHO_CHARS / 2;
const masked = '…';

const quotes = '"“”„«»`\'‘’';
/** A quotation begins behind no letter, so that an apostrophe is none. */
const opening = new RegExp(`(?<![\\p{L}\\p{N}])[${quotes}]`, 'gu');
/** What may be quoted: the name of a field, a model or a value. */
const quotedName = new RegExp(`^[\\w.:/@$[\\]-]{1,100}[${quotes}](?![\\p{L}\\p{N}])`, 'u');
const lastQuote = new RegExp(`^.*[${quotes}]`, 'su');
/** Where a request is repeated as data, as JSON or as Python prints it. */
const data = /(\{|\[(?=[\s"'{[])|\b(input|input_value)=).*/su;

const secrets: readonly RegExp[] = [
  // Keys of known forms, and what a provider has masked itself.
  /\b(sk|pk|rk|mg|mgk|gsk|xai|hf|key|token)[-_][\w-]{8,}/gi,
  /\bBearer\s+\S+/gi,
  /[\w-]*\*{2,}[\w*-]*/g,
  /[^\s@"'<>()]+@[^\s@"'<>()]+\.\w+/g,
  // Long tokens: letters and digits mixed, or digits alone.
  /[\w+/=-]*(?=[A-Za-z\d]{16})(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z\d]{16,}[\w+/=-]*/g,
  /\d{16,}/g,
];
const address = /\b(https?:\/\/)(?:[^\s/@]*@)?([^\s?#"'<>]*)(?:[?#][^\s"'<>]*)?/g;

/** What a message of a provider must not repeat. */
export interface Unrepeatable {
  readonly credential: string;
  /** The client's body; empty where it is not in memory. */
  readonly request: Uint8Array;
}

/**
 * The start of a provider's message for the call log, without credentials, addresses of people, long tokens, quotations
 * and parts of the request (contract: call-log/provider-error).
 */
export function maskedMessage(message: string, { credential, request }: Unrepeatable): string {
  const bytes = Buffer.from(message);
  const mask = createCredentialMask(credential);
  let text = (mask ? Buffer.concat([mask.push(bytes), mask.end()]) : bytes).toString();
  text = withoutEcho(text, Buffer.from(request.buffer, request.byteOffset, request.byteLength));
  text = withoutQuotation(text.replace(data, masked));
  text = text.replace(address, '$1$2');
  for (const secret of secrets) text = text.replace(secret, masked);
  return firstBytes(text.replace(/\s+/g, ' ').trim());
}

/** Cuts from the first quotation that is no name to the last quotation mark: what is inside may hold more of them. */
function withoutQuotation(text: string): string {
  for (const { index } of text.matchAll(opening)) {
    const inside = text.slice(index + 1);
    if (quotedName.test(inside)) continue;
    const end = lastQuote.exec(inside)?.[0].length ?? inside.length;
    return text.slice(0, index) + masked + inside.slice(end);
  }
  return text;
}

/** Cuts from where the message repeats the request on. */
function withoutEcho(text: string, request: Buffer): string {
  for (let at = 0; at + STEP <= text.length; at += STEP) {
    if (!holds(request, text.slice(at, at + STEP))) continue;
    let start = at;
    let end = at + STEP;
    while (start > 0 && holds(request, text.slice(start - 1, end))) start -= 1;
    while (end - start < ECHO_CHARS && end < text.length && holds(request, text.slice(start, end + 1)))
      end += 1;
    if (end - start >= ECHO_CHARS) return text.slice(0, start) + masked;
  }
  return text;
}

/** Whether a JSON body holds a text, in either way of writing other letters. */
function holds(request: Buffer, text: string): boolean {
  const json = JSON.stringify(text).slice(1, -1);
  if (request.includes(json)) return true;
  const ascii = json.replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return ascii !== json && request.includes(ascii);
}

/** Ends with a whole character. */
function firstBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MOST_BYTES) return text;
  let end = MOST_BYTES - Buffer.byteLength(masked);
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end) + masked;
}
