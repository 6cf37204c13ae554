import { maskCredential } from '#lib/core/relay/credential-mask';

const MOST_CHARS = 300;

/** A credential of a cloud that gives neither token nor signature. */
export class NoAccess extends Error {
  /** As `failureName` reads it. */
  readonly code: 'TOKEN_REFUSED' | 'TOKEN_UNAVAILABLE';

  /** @param refused whether the credential is at fault; otherwise, its issuer could not be reached or failed. */
  constructor(message: string, refused: boolean) {
    super(message);
    this.name = 'NoAccess';
    this.code = refused ? 'TOKEN_REFUSED' : 'TOKEN_UNAVAILABLE';
  }
}

/** What the libraries and issuers say when a credential is wrong. */
const refusals =
  /^(invalid_(client|grant|request|scope)|unauthorized_client|access_denied|AccessDenied.*|InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|ExpiredToken.*|MalformedPolicyDocument|ValidationError|CredentialsProviderError)$/;

/** A token of a workload, which its machine may have replaced since it was sent. */
const signedToken = /\beyJ[\w-]+\.[\w-]+(\.[\w-]*)?/g;

/** What a parser of JSON quotes of an answer that is none: it may be a part of a secret, which no mask would find. */
const quoted = /(?:\.\.\.)?"[\s\S]*"(?:\.\.\.)?(?= is not valid JSON)/g;

/** Of issuers; 404: the machine has no identity, or it was deleted. */
const refusedBy: ReadonlySet<unknown> = new Set([400, 401, 403, 404]);

/**
 * An error of a library that gets tokens, in words for the operator.
 * @param secrets that the message must not repeat.
 */
export function noAccess(error: unknown, secrets: readonly string[]): NoAccess {
  if (error instanceof NoAccess) return error;
  const { message, name, code, errorCode, status, $metadata, response } = (error ?? {}) as {
    [key: string]: unknown;
    $metadata?: { httpStatusCode?: unknown };
    response?: { status?: unknown };
  };
  const answered = [$metadata?.httpStatusCode, response?.status, status].find(
    (one) => typeof one === 'number',
  );
  const names = [errorCode, code, name].filter((one) => typeof one === 'string');
  const refused = names.some((one) => refusals.test(one)) || refusedBy.has(answered);
  let text = typeof message === 'string' && message !== '' ? message : 'no reason given';
  for (const secret of secrets) text = maskCredential(text, secret);
  text = text.replace(signedToken, '***').replace(quoted, 'the answer');
  return new NoAccess(text.replace(/\s+/g, ' ').slice(0, MOST_CHARS), refused);
}
