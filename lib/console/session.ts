import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { getServerSession } from 'next-auth';
import { cache } from 'react';
import { authOptions } from '#lib/console/account/auth';
import { safeCallback } from '#lib/console/addresses';
import { getConsoleHost } from '#lib/console/db';
import { findUserOfSession, type SessionUser } from '#lib/control/operations/user/authenticate';

/**
 * The signed-in user; null: none. A session that ended (signed out here or everywhere, password changed) has
 * no user. Queried once per request.
 */
export const findUser = cache(async (): Promise<SessionUser | null> => {
  const session = await getServerSession(authOptions());
  if (!session?.sessionId || session.endsAtMs <= Date.now()) return null;
  return findUserOfSession(getConsoleHost().control.db, session, Date.now());
});

/** The signed-in user; redirects everyone else to the sign-in page, and back here afterwards. */
export async function requireUser(): Promise<SessionUser> {
  const user = await findUser();
  if (user) return user;
  const here = safeCallback((await headers()).get('x-console-path'));
  redirect(here === '/' ? '/sign-in' : `/sign-in?callbackUrl=${encodeURIComponent(here)}`);
}
