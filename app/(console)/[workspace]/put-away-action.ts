'use server';

import { cookies } from 'next/headers';
import { dismissedCookie, withDismissed } from '#lib/console/show/dismissed';

const yearSeconds = 365 * 86_400;

/** Remembers, only in this browser, that an announcement was dismissed. */
export async function putAwayAction(id: unknown): Promise<void> {
  const jar = await cookies();
  const value = withDismissed(jar.get(dismissedCookie)?.value, id);
  jar.set(dismissedCookie, value, { path: '/', maxAge: yearSeconds, sameSite: 'lax', httpOnly: true });
}
