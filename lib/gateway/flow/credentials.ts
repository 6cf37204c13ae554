import { type Refusal, refusal } from '#lib/core/errors';
import { isWellFormedKey } from '#lib/platform/secrets';

const otherHeaders = ['x-api-key', 'x-goog-api-key', 'api-key'] as const;

/**
 * The key that a request presents
 * (contract: authentication/credential, authentication/missing, authentication/two-keys). A key of ours in
 * `Authorization: Bearer` decides; another credential there is a placeholder of the client's if the native headers
 * and `?key=` of the families, which must agree, contain a key of ours.
 * @param request header names in lower case; `query` is the raw text after "?", "" when there is none.
 * @returns the secret as sent, not yet checked for its form; or the refusal, which quotes nothing.
 */
export function readCredential(request: {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: string;
}): { secret: string } | Refusal {
  const others = otherCredentials(request.headers, request.query);
  const authorization = request.headers.authorization;
  if (authorization === undefined) return single(others);
  const secret = /^bearer[ \t]+([^\s,]+)[ \t]*$/i.exec(authorization)?.[1];
  const ours = others.filter(isWellFormedKey);
  if (ours.length > 0) {
    if (secret === undefined || !isWellFormedKey(secret)) return single(ours);
    return ours.every((other) => other === secret) ? { secret } : twoKeys();
  }
  if (secret === undefined) {
    return refusal(
      'invalid_api_key',
      'The Authorization header does not contain a Bearer key; send "Authorization: Bearer <API key>".',
    );
  }
  return { secret };
}

function single(found: readonly string[]): { secret: string } | Refusal {
  const secret = found[0];
  if (secret === undefined) {
    return refusal(
      'missing_platform_authorization',
      'No API key was sent; send one as "Authorization: Bearer <API key>".',
    );
  }
  return found.every((other) => other === secret) ? { secret } : twoKeys();
}

function twoKeys(): Refusal {
  return refusal('invalid_api_key', 'The request contains two different API keys; send only one.');
}

function otherCredentials(
  headers: Readonly<Record<string, string | undefined>>,
  query: string,
): readonly string[] {
  const found: string[] = [];
  for (const name of otherHeaders) {
    const value = headers[name]?.trim();
    if (value) found.push(value);
  }
  if (query.length > 0) {
    for (const value of new URLSearchParams(query).getAll('key')) if (value !== '') found.push(value);
  }
  return found;
}
