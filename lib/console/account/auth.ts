import { randomUUID } from 'node:crypto';
import { cookies, headers } from 'next/headers';
import type { AuthOptions } from 'next-auth';
import type { JWT } from 'next-auth/jwt';
import Credentials from 'next-auth/providers/credentials';
import { decodeToken, encodeToken, signingSecret } from '#lib/console/account/cookie-secrets';
import { enterByOther } from '#lib/console/account/enter-by-other';
import { otherProviders } from '#lib/console/account/other-accounts';
import { signInErrors } from '#lib/console/account/sign-in-errors';
import { controlHost } from '#lib/console/actor';
import { landingAddress } from '#lib/console/addresses';
import { getConsoleHost } from '#lib/console/db';
import { normalEmail } from '#lib/control/operations/field/people';
import { ask } from '#lib/control/operations/run';
import { findUserByPassword, type SignedIn } from '#lib/control/operations/user/authenticate';
import { endSession, startSession } from '#lib/control/operations/user/sessions';
import { clientOf, nearestHop } from '#lib/platform/client-address';
import { SignInThrottle } from '#lib/platform/throttle/sign-in';

declare module 'next-auth' {
  interface User {
    sessionId: string;
    endsAtMs: number;
  }
  interface Session {
    userId: string;
    sessionId: string;
    endsAtMs: number;
  }
}

declare module 'next-auth/jwt' {
  interface JWT {
    userId: string;
    /** Both stay the same when the cookie is renewed. */
    sessionId: string;
    endsAtMs: number;
  }
}

const weekSeconds = 7 * 24 * 3600;

/**
 * Settings of next-auth: JWT sessions of a week, each with a row that can end it earlier
 * (contract: control-plane/sessions).
 * @param secret of what a browser has begun; sessions are read with all secrets.
 */
export function authOptions(secret = signingSecret()): AuthOptions {
  const host = getConsoleHost();
  return {
    secret,
    session: { strategy: 'jwt', maxAge: weekSeconds },
    jwt: { encode: encodeToken, decode: decodeToken },
    logger: {
      // A foreign cookie is not our error, and any client can send one.
      error: (code, said) => {
        if (code !== 'JWT_SESSION_ERROR') host.report(new Error(`next-auth: ${code}${messageIn(said)}`));
      },
      warn: () => undefined,
      debug: () => undefined,
    },
    pages: { signIn: '/sign-in', error: '/sign-in' },
    providers: [
      Credentials({
        credentials: { email: {}, password: {} },
        authorize: async (credentials, request) => {
          const email = normalEmail(String(credentials?.email ?? '')).slice(0, 320);
          const password = String(credentials?.password ?? '').slice(0, 1024);
          if (!email || !password) return null;
          const address = nearestHop(request.headers?.['x-forwarded-for']);
          const client = clientOf(address ?? 'unknown');
          const throttle = new SignInThrottle(host.throttle);
          if (!(await throttle.claim(email, client))) throw new Error(signInErrors.tooManyAttempts);
          // The message thrown here becomes part of the redirect's URL: a code, never a message of the
          // database.
          const unavailable = (error: unknown) => {
            host.report(error);
            throw new Error(signInErrors.unavailable);
          };
          const user = await findUserByPassword(host.control.db, email, password).catch(unavailable);
          if (!user) return null;
          await throttle.clear(email, client);
          return beginSession(user, 'password').catch(unavailable);
        },
      }),
      ...otherProviders(host.env.providers ?? { github: null, google: null }),
    ],
    callbacks: {
      redirect: ({ url, baseUrl }) => landingAddress(url, baseUrl),
      signIn: async ({ user, account, profile }) => {
        if (account?.type !== 'oauth') return true;
        const entered = await enterByOther(account, profile, await cookies());
        if (typeof entered === 'string') return entered;
        Object.assign(user, await beginSession(entered, account.provider));
        return true;
      },
      // Only signing in sets the user; next-auth's own members of the token are not needed.
      jwt: ({ token, user }) =>
        user ? { userId: user.id, sessionId: user.sessionId, endsAtMs: user.endsAtMs } : token,
      session: ({ session, token }) => ({
        ...session,
        userId: token.userId,
        sessionId: token.sessionId,
        endsAtMs: token.endsAtMs,
      }),
    },
    events: {
      signOut: async ({ token }) => {
        // A foreign cookie has no session to end.
        if (token?.sessionId) await signOut(token).catch((error: unknown) => host.report(error));
      },
    },
  };
}

/** Records a new session. @returns what its cookie says. */
async function beginSession({ id: userId, sessionVersion }: SignedIn, method: string) {
  const sent = await headers();
  const sessionId = randomUUID();
  const endsAtMs = Date.now() + weekSeconds * 1000;
  const userAgent =
    sent
      .get('user-agent')
      ?.replace(/[^\x20-\x7e]/g, '')
      .slice(0, 300) || null;
  const input = {
    id: sessionId,
    version: sessionVersion,
    method,
    endsAt: new Date(endsAtMs).toISOString(),
    userAgent,
  };
  await ask(controlHost(), startSession, {
    actor: ownActor(userId, nearestHop(sent.get('x-forwarded-for'))),
    input,
  });
  return { id: userId, sessionId, endsAtMs };
}

/** Ends the session, so that copies of its cookie stop working. */
async function signOut({ userId, sessionId }: JWT): Promise<void> {
  await ask(controlHost(), endSession, { actor: ownActor(userId, null), input: { id: sessionId } });
}

function ownActor(userId: string, address: string | null) {
  return { kind: 'user', userId, operator: false, address } as const;
}

/** next-auth passes errors, or objects that contain one. */
function messageIn(said: unknown): string {
  const error = typeof said === 'object' && said !== null && 'error' in said ? said.error : said;
  return error instanceof Error ? ` (${error.message})` : '';
}
