import { normalEmail } from '#lib/control/operations/field/people';
import { storeOf } from '#lib/control/operations/store';
import { checkPassword } from '#lib/control/operations/user/password';
import type { Db } from '#lib/platform/data/db';

/** A user who has just signed in. */
export interface SignedIn {
  readonly id: string;
  readonly sessionVersion: number;
}

/** What the console knows about the signed-in user. */
export interface SessionUser {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  /** Whether the user is an operator of this gateway. */
  readonly operator: boolean;
  /** Whether the address is verified. */
  readonly verified: boolean;
  readonly sessionId: string;
}

/** The content of a session's cookie, whose signature was checked. */
export interface Session {
  readonly sessionId: string;
  readonly userId: string;
}

/** How outdated the time of a session's last request may be, ms, so that not every page has to write. */
const seenMs = 5 * 60_000;

/**
 * The user with this email and password; null for any mismatch. An unknown address takes as long
 * as a known one (contract: control-plane/sign-in).
 */
export async function findUserByPassword(db: Db, email: string, password: string): Promise<SignedIn | null> {
  // PostgreSQL cannot store NUL and would raise an error.
  const known = normalEmail(email).replaceAll('\0', '\uFFFD');
  const user = await storeOf(db).prisma.user.findUnique({ where: { email: known } });
  const matches = await checkPassword(user?.passwordHash ?? null, password);
  if (user === null || !matches) return null;
  return { id: user.id, sessionVersion: user.sessionVersion };
}

/**
 * The user of a session; null if it has ended or expired, or its version is older than the user's
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
