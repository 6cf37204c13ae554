import { createHash } from 'node:crypto';
import { decode, encode, type JWT, type JWTDecodeParams, type JWTEncodeParams } from 'next-auth/jwt';
import { getConsoleHost } from '#lib/console/db';

/** The secret that signs cookies. */
export function signingSecret(): string {
  return getConsoleHost().env.authSecrets[0] ?? '';
}

/** A signed and encrypted token, for a cookie. */
export function encodeToken(params: Omit<JWTEncodeParams, 'secret'>): Promise<string> {
  return encode({ ...params, secret: signingSecret() });
}

/**
 * Reads a token that was made with any of the secrets (contract: operations/session-secret).
 * @throws the Error of the last secret if none of them made it.
 */
export async function decodeToken(params: Omit<JWTDecodeParams, 'secret'>): Promise<JWT | null> {
  let fault: unknown = null;
  for (const secret of getConsoleHost().env.authSecrets) {
    try {
      return await decode({ ...params, secret });
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

/**
 * The secret with which a browser's form token was made. What the browser has begun, a form or signing in at
 * another provider, must end with the same secret, even if this process makes new tokens with another one.
 * @param cookie value of next-auth's cookie for it: a token, and its hash together with the secret.
 */
export function secretOfForm(cookie: string | undefined): string {
  const [token = '', hash] = cookie?.split('|') ?? [];
  const { authSecrets } = getConsoleHost().env;
  const made = authSecrets.find(
    (secret) => createHash('sha256').update(`${token}${secret}`).digest('hex') === hash,
  );
  return made ?? signingSecret();
}
