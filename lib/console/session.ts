import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { getServerSession } from 'next-auth';
import { cache } from 'react';
import { safeCallback } from '#lib/console/addresses';
import { authOptions } from '#lib/console/auth';
import { getConsoleHost } from '#lib/console/db';

export interface ConsoleUser {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  /** One of the people who run the gateway. */
  readonly operator: boolean;
}

/**
 * Who is signed in; null for nobody. A session that was signed out, or whose version is behind the user's
 * (password changed, signed out everywhere), is nobody's. Asked once a request.
 */
export const findUser = cache(async (): Promise<ConsoleUser | null> => {
  const session = await getServerSession(authOptions());
  if (!session?.sessionId || session.endsAtMs <= Date.now()) return null;
  const { prisma } = getConsoleHost().db;
  const [user, ended] = await Promise.all([
    prisma.user.findUnique({
      where: { id: session.userId },
      select: { id: true, email: true, name: true, operator: true, sessionVersion: true },
    }),
    prisma.endedSession.findUnique({ where: { id: session.sessionId } }),
  ]);
  if (!user || ended || user.sessionVersion !== session.sessionVersion) return null;
  return { id: user.id, email: user.email, name: user.name, operator: user.operator };
});

/** Who is signed in; sends everyone else to the sign-in page, and back here afterwards. */
export async function requireUser(): Promise<ConsoleUser> {
  const user = await findUser();
  if (user) return user;
  const here = safeCallback((await headers()).get('x-console-path'));
  redirect(here === '/' ? '/sign-in' : `/sign-in?callbackUrl=${encodeURIComponent(here)}`);
}
