import type { Account, Profile } from 'next-auth';
import { decodeToken, encodeToken } from '#lib/console/account/cookie-secrets';
import { identityOf, type ProviderIdentity } from '#lib/console/account/other-accounts';
import { signInErrors } from '#lib/console/account/sign-in-errors';
import { controlHost, requestAddress } from '#lib/console/actor';
import { getConsoleHost } from '#lib/console/db';
import { type ControlCode, ControlRefused } from '#lib/control/operations/refusal';
import { ask } from '#lib/control/operations/run';
import {
  findUserOfSession,
  type SessionUser,
  type SignedIn,
} from '#lib/control/operations/user/authenticate';
import { enterByProvider, linkAccount } from '#lib/control/operations/user/linked';
import { endSession } from '#lib/control/operations/user/sessions';

/** Set by the account page: connect the account that the provider returns to the signed-in user. */
export const connectCookie = 'connect-account';
/** Time limit for signing in at the provider and returning, seconds. */
export const connectSeconds = 600;
/** The browser's time zone, for the workspace of a new user. */
export const zoneCookie = 'time-zone';

const connectSalt = 'connect-account';

interface Jar {
  get(name: string): { readonly value: string } | undefined;
  delete(name: string): unknown;
}

/** The cookie's proof that this session requested a connection. */
export function connectProof({ id: userId, sessionId }: SessionUser): Promise<string> {
  const token = { userId, sessionId, endsAtMs: 0 };
  return encodeToken({ token, salt: connectSalt, maxAge: connectSeconds });
}

/**
 * Handles the return from a provider: connects the account if the account page asked for that, otherwise
 * signs in or up.
 * @returns the user, or the URL of the page that says why not.
 */
export async function enterByOther(
  account: Account,
  profile: Profile | undefined,
  jar: Jar,
): Promise<SignedIn | string> {
  const identity = identityOf(account, profile);
  const owner = await findConnecting(jar);
  jar.delete(connectCookie);
  try {
    return owner ? await connect(identity, owner) : await enter(identity, jar.get(zoneCookie)?.value);
  } catch (error) {
    if (!(error instanceof ControlRefused)) {
      getConsoleHost().report(error);
      return `/sign-in?error=${signInErrors.unavailable}`;
    }
    if (owner) return '/account?connect=taken';
    return `/sign-in?error=${refusals[error.code] ?? signInErrors.unavailable}`;
  }
}

const refusals: Partial<Record<ControlCode, string>> = {
  invalid_body: signInErrors.unverifiedEmail,
  conflict: signInErrors.addressTaken,
  permission_denied: signInErrors.signUpClosed,
};

async function findConnecting(jar: Jar): Promise<SessionUser | null> {
  const proof = jar.get(connectCookie)?.value;
  if (!proof) return null;
  const host = getConsoleHost();
  const asked = await decodeToken({ token: proof, salt: connectSalt }).catch(() => null);
  return asked ? findUserOfSession(host.control.db, asked, Date.now()) : null;
}

/** Ends the session that asked; the new session replaces it. */
async function connect(
  { provider, subject, email }: ProviderIdentity,
  owner: SessionUser,
): Promise<SignedIn> {
  const { id, sessionId } = owner;
  const actor = {
    kind: 'user',
    userId: id,
    operator: false,
    sessionId,
    address: await requestAddress(),
  } as const;
  const input = { provider, subject, ...(email === undefined ? {} : { email }) };
  const linked = await ask(controlHost(), linkAccount, { actor, input });
  await ask(controlHost(), endSession, { actor, input: { id: sessionId } });
  return linked;
}

async function enter(identity: ProviderIdentity, zone: string | undefined): Promise<SignedIn> {
  const { provider, subject, email, emailVerified, name } = identity;
  const actor = { kind: 'anonymous', address: await requestAddress() } as const;
  const timeZone = zone?.slice(0, 64);
  const input = {
    provider,
    subject,
    emailVerified,
    name,
    ...(email === undefined ? {} : { email }),
    ...(timeZone ? { timeZone } : {}),
  };
  return ask(controlHost(), enterByProvider, { actor, input });
}
