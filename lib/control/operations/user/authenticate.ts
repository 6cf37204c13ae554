import { normalEmail } from '#lib/control/operations/field/people';
import { storeOf } from '#lib/control/operations/store';
import { checkPassword } from '#lib/control/operations/user/password';
import type { Db } from '#lib/platform/data/db';

/** Whoever has just signed in. */
export interface SignedIn {
  readonly id: string;
  readonly sessionVersion: number;
}

/** What the console knows of whoever is signed in. */
export interface SessionUser {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  /** One of the people who run the gateway. */
  readonly operator: boolean;
  /** Whether the address was shown to be theirs. */
  readonly verified: boolean;
  readonly sessionId: string;
}

/** What a session's cookie says, once its signature was found good. */
export interface Session {
  readonly sessionId: string;
  readonly userId: string;
}

/** How old the time of a session's last request may be, ms: each page need not write. */
const seenMs = 5 * 60_000;

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
  return { id: user.id, sessionVersion: user.sessionVersion };
}

/**
 * Whose session it is; null when it ended, ran out, or its version is behind the user's
 * (contract: control-plane/sessions).
 */
export async function findUserOfSession(db: Db, asked: Session, nowMs: number): Promise<SessionUser | null> {
  const { prisma } = storeOf(db);
  const session = await prisma.session.findUnique({
    where: { id: asked.sessionId, userId: asked.userId },
    include: { user: true },
  });
  if (session === null || session.version !== session.user.sessionVersion) return null;
  if (session.endsAt.getTime() <= nowMs) return null;
  if (nowMs - session.seenAt.getTime() > seenMs) {
    await prisma.session.updateMany({ where: { id: session.id }, data: { seenAt: new Date(nowMs) } });
  }
  const { id, email, name, operator, emailVerifiedAt } = session.user;
  return { id, email, name, operator, verified: emailVerifiedAt !== null, sessionId: session.id };
}
