import { normalEmail } from '#lib/control/field/people';
import { storeOf } from '#lib/control/store';
import { checkPassword } from '#lib/control/user/password';
import type { Db } from '#lib/data/db';

/** Whoever has just signed in. */
export interface SignedIn {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly sessionVersion: number;
}

/** What the console knows of whoever is signed in. */
export interface SessionUser {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  /** One of the people who run the gateway. */
  readonly operator: boolean;
}

/** What a session's cookie says, once its signature was found good. */
export interface Session {
  readonly sessionId: string;
  readonly userId: string;
  readonly sessionVersion: number;
}

/**
 * The user with this e-mail and password, null for any mismatch. An unknown address costs as much time
 * as a known one (contract: control-plane/sign-in).
 */
export async function findUserByPassword(db: Db, email: string, password: string): Promise<SignedIn | null> {
  // PostgreSQL stores no NUL; asked for one, it would raise.
  const known = normalEmail(email).replaceAll('\0', '\uFFFD');
  const user = await storeOf(db).prisma.user.findUnique({ where: { email: known } });
  const matches = await checkPassword(user?.passwordHash ?? null, password);
  if (user === null || !matches) return null;
  return { id: user.id, email: user.email, name: user.name, sessionVersion: user.sessionVersion };
}

/** Whose session it is; null when it was signed out, or when its version is behind the user's. */
export async function findUserOfSession(db: Db, session: Session): Promise<SessionUser | null> {
  const { prisma } = storeOf(db);
  const [user, ended] = await Promise.all([
    prisma.user.findUnique({
      where: { id: session.userId },
      select: { id: true, email: true, name: true, operator: true, sessionVersion: true },
    }),
    prisma.endedSession.findUnique({ where: { id: session.sessionId } }),
  ]);
  if (!user || ended || user.sessionVersion !== session.sessionVersion) return null;
  return { id: user.id, email: user.email, name: user.name, operator: user.operator };
}
