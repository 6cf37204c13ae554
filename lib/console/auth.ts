import { randomUUID } from 'node:crypto';
import type { AuthOptions, Session, User } from 'next-auth';
import type { JWT } from 'next-auth/jwt';
import Credentials from 'next-auth/providers/credentials';
import { controlHost } from '#lib/console/actor';
import { landingAddress } from '#lib/console/addresses';
import { getConsoleHost } from '#lib/console/db';
import { clientOf, nearestHop } from '#lib/console/forwarded';
import { getSignInThrottle } from '#lib/console/sign-in-throttle';
import { normalEmail } from '#lib/control/field/people';
import { ask } from '#lib/control/run';
import { findUserByPassword } from '#lib/control/user/authenticate';
import { endSession } from '#lib/control/user/own';

declare module 'next-auth' {
  interface User {
    sessionVersion: number;
  }
  interface Session {
    userId: string;
    sessionVersion: number;
    sessionId: string;
    endsAtMs: number;
  }
}

declare module 'next-auth/jwt' {
  interface JWT {
    userId: string;
    sessionVersion: number;
    /** Both stay the same when somebody has the cookie renewed. */
    sessionId: string;
    endsAtMs: number;
  }
}

/** The error that the sign-in page reads when there were too many attempts. */
const tooManyAttempts = 'TooManyAttempts';
/** And the one when the database did not answer. */
const unavailable = 'Unavailable';

const weekSeconds = 7 * 24 * 3600;

/** Settings of next-auth: JWT sessions of a week, ended earlier by signing out (contract: control-plane/sessions). */
export function authOptions(): AuthOptions {
  const host = getConsoleHost();
  return {
    secret: host.env.authSecret,
    session: { strategy: 'jwt', maxAge: weekSeconds },
    logger: {
      // A cookie that is not ours is no fault of ours, and anybody can send one.
      error: (code) => {
        if (code !== 'JWT_SESSION_ERROR') host.report(new Error(`next-auth: ${code}`));
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
          const address = clientOf(nearestHop(request.headers?.['x-forwarded-for']) ?? 'unknown');
          const throttle = getSignInThrottle();
          if (!throttle.claim(email, address, Date.now())) throw new Error(tooManyAttempts);
          const user = await findUserByPassword(host.control.db, email, password).catch((error: unknown) => {
            host.report(error);
            // What is thrown here goes into the address of the answer: a word, never a database's own text.
            throw new Error(unavailable);
          });
          if (user) throttle.clear(email, address, Date.now());
          return user;
        },
      }),
    ],
    callbacks: {
      redirect: ({ url, baseUrl }) => landingAddress(url, baseUrl),
      jwt: ({ token, user }) => (user ? { ...token, ...newSession(user) } : token),
      session: ({ session, token }) => ({
        ...session,
        userId: token.userId,
        sessionVersion: token.sessionVersion,
        sessionId: token.sessionId,
        endsAtMs: token.endsAtMs,
      }),
    },
    events: {
      signOut: async ({ token }) => {
        // A cookie that is not ours has no session to end.
        if (token?.sessionId) await signOut(token).catch((error: unknown) => host.report(error));
      },
    },
  };
}

function newSession(user: User): Omit<Session, 'user' | 'expires'> {
  const endsAtMs = Date.now() + weekSeconds * 1000;
  return { userId: user.id, sessionVersion: user.sessionVersion, sessionId: randomUUID(), endsAtMs };
}

/** A copy of its cookie opens nothing from now on. */
async function signOut({ userId, sessionId, endsAtMs }: JWT): Promise<void> {
  await ask(controlHost(), endSession, {
    actor: { kind: 'user', userId, operator: false, address: null },
    input: { id: sessionId, endsAt: new Date(endsAtMs).toISOString() },
  });
}
