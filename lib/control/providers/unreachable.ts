import { messageOf } from '#lib/core/errors';

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

/**
 * Why a request to a provider got no answer, and what to do; it contains no credential and no query. Pure.
 * @param url of the request. @param limitMs how long the answer may take.
 */
export function whyUnreachable(error: unknown, url: URL, limitMs: number): string {
  const code = codeOf(error);
  const { host, hostname } = url;
  const told = adviceFor(code, { host, local: /^(localhost|\[::1\]|127(\.\d+){3})$/.test(hostname) });
  if (told !== null) return `${told} (${code})`;
  if (error instanceof Error && error.name === 'TimeoutError')
    return `${host} did not answer within ${limitMs / 1000} s; check that the server is running and not overloaded`;
  return `${code === '' ? '' : `${code}: `}${messageOf(error)}`.slice(0, 300);
}

function adviceFor(code: string, { host, local }: { host: string; local: boolean }): string | null {
  if (untrusted.has(code))
    return `the TLS certificate of ${host} is not signed by an authority that this machine trusts; start the gateway with NODE_EXTRA_CA_CERTS set to the file of that authority or certificate`;
  if (/^HPE_/.test(code)) return `${host} does not speak HTTP; check the port`;
  switch (code) {
    case 'ECONNREFUSED':
      return local
        ? `nothing listens at ${host}; start the server, or check the port. In a container, localhost is the container itself: use the host's address, such as host.docker.internal`
        : `nothing listens at ${host}; check the address and the port, and that the server accepts connections from other machines`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name ${host} cannot be resolved; check its spelling, and that this machine can resolve it`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `${host} cannot be reached; check the address, firewalls, and HTTPS_PROXY if you use a proxy`;
    case 'CERT_HAS_EXPIRED':
      return `the TLS certificate of ${host} has expired; renew it there`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `the TLS certificate of ${host} is for another name; use the name that the certificate has`;
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `${host} does not speak TLS; try http:// instead of https://`;
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
      return `${host} closed the connection without an answer; check the port, and whether it wants https://`;
    default:
      return null;
  }
}

/** Of the error or, if several addresses of a host were tried, of the first one. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  const own = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (own !== '') return own;
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : '';
}
