import type { Fault } from '#lib/core/families/reading/fault';
import { machineFaultOf } from '#lib/core/machine-fault';
import type { CredentialFault } from '#lib/gateway/routing/health';

/** Statuses of 4xx that are never the client's fault (contract: families/faults). */
const never = new Set([401, 402, 403, 408, 425, 429, 499]);

/** Whether an error is not the client's fault, whatever its body says. */
export function isDecided(status: number): boolean {
  return status >= 500 || never.has(status);
}

/**
 * What an error says about the credential that was used (contract: routing/next-credential); null: nothing.
 * @param status of the answer, also of one that has its error inside.
 */
export function credentialFaultOf(
  status: number,
  { whose, kind }: Pick<Fault, 'whose' | 'kind'>,
): CredentialFault | null {
  if (whose === 'client') return null;
  if (kind === 'quota') return 'refused';
  if (status === 429 || kind === 'rate_limit') return 'limited';
  if (status === 403) return 'forbidden';
  return kind === 'credential' || status === 401 || status === 402 ? 'refused' : null;
}

/** Failures before the provider could see which credential was sent, so that no other one would fare better. */
const unreachable = new Set([
  'connection_refused',
  'connect_timeout',
  'address_not_found',
  'address_unreachable',
  'address_refused',
  'certificate_refused',
  'proxy_refused',
]);

/** Whether the provider was not reached at all. @param name as `failureName` gives it; null: it answered. */
export function isUnreachable(name: string | null): boolean {
  return name !== null && unreachable.has(name);
}

/** Failures by which the gateway itself closed the connection, so that the provider may have continued. */
const ownClosings = new Set(['client_gone', 'first_word_timeout', 'idle_timeout', 'total_timeout']);

/** Whether the gateway itself ended an answer that had begun. @param name as `failureName` gives it. */
export function isOwnClosing(name: string): boolean {
  return ownClosings.has(name);
}

/** Codes of certificates that a provider's address does not match or that no authority vouches for. */
const certificateCode = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/;

/** Codes of bytes that are not HTTP, or not in the coding that the answer names. */
const unreadableCode = /^(HPE_|Z_|ZSTD_|ERR_BROTLI_|ERR__ERROR_)/;

/** The error name of an attempt that got no HTTP answer, for the call log. */
export function failureName(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  // Most errors of undici's parser have no code.
  if (name === 'HTTPParserError') return 'bad_answer';
  if (typeof code !== 'string') return 'connection_failed';
  const known: Record<string, string> = {
    ECONNREFUSED: 'connection_refused',
    ECONNRESET: 'connection_reset',
    EPIPE: 'connection_reset',
    UND_ERR_SOCKET: 'connection_closed',
    UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
    // Of a proxy that does not open its tunnel: no other request has such a limit.
    UND_ERR_HEADERS_TIMEOUT: 'connect_timeout',
    // Of a proxy that answers CONNECT with an error, or closes.
    UND_ERR_ABORTED: 'proxy_refused',
    UND_ERR_PRX_CONN: 'proxy_refused',
    ETIMEDOUT: 'connect_timeout',
    ENOTFOUND: 'address_not_found',
    EAI_AGAIN: 'address_not_found',
    EHOSTUNREACH: 'address_unreachable',
    ENETUNREACH: 'address_unreachable',
    UND_ERR_HEADERS_OVERFLOW: 'bad_answer',
    UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'bad_answer',
    FIRST_BYTE_TIMEOUT: 'first_byte_timeout',
    FIRST_WORD_TIMEOUT: 'first_word_timeout',
    IDLE_TIMEOUT: 'idle_timeout',
    TOTAL_TIMEOUT: 'total_timeout',
    CLIENT_GONE: 'client_gone',
    REDIRECT_REFUSED: 'redirect_refused',
    ADDRESS_REFUSED: 'address_refused',
    UNREADABLE_ANSWER: 'unreadable_answer',
    ERROR_IN_ANSWER: 'error_in_answer',
    EMPTY_ANSWER: 'empty_answer',
    CUT_ANSWER: 'cut_answer',
    UNTRANSLATABLE_ANSWER: 'untranslatable_answer',
    BAD_EVENT_STREAM: 'bad_answer',
    TOKEN_REFUSED: 'token_refused',
    TOKEN_UNAVAILABLE: 'token_unavailable',
  };
  const machine = machineFaultOf(error);
  if (machine !== null) return machine;
  if (certificateCode.test(code)) return 'certificate_refused';
  return known[code] ?? (unreadableCode.test(code) ? 'bad_answer' : 'connection_failed');
}
