import { createHash } from 'node:crypto';
import { decode, encode, type JWT, type JWTDecodeParams, type JWTEncodeParams } from 'next-auth/jwt';
import { getConsoleHost } from '#lib/console/db';

/** The secret that cookies are made with. */
export function signingSecret(): string {
  return getConsoleHost().env.authSecrets[0] ?? '';
}

/** A signed and encrypted token, for a cookie. */
export function encodeToken(params: Omit<JWTEncodeParams, 'secret'>): Promise<string> {
  return encode({ ...params, secret: signingSecret() });
}

/**
 * Reads a token that any of the secrets made (contract: operations/session-secret).
 * @throws Error of the last of them when none did.
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
 * The secret under which a browser's form token was made: what it has begun, a form or the way to another provider, ends
 * with it, though this process makes new ones with another.
 * @param cookie the value of next-auth's cookie for it: a token, and its hash together with the secret.
 */
export function secretOfForm(cookie: string | undefined): string {
  const [token = '', hash] = cookie?.split('|') ?? [];
  const { authSecrets } = getConsoleHost().env;
  const made = authSecrets.find(
    (secret) => createHash('sha256').update(`${token}${secret}`).digest('hex') === hash,
  );
  return made ?? signingSecret();
}
