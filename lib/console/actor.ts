import { headers } from 'next/headers';
import { getConsoleHost } from '#lib/console/db';
import type { UserActor } from '#lib/control/operations/actor';
import type { ControlHost } from '#lib/control/operations/run';
import type { SessionUser } from '#lib/control/operations/user/authenticate';
import { nearestHop } from '#lib/platform/client-address';

/** The signed-in user as the actor of operations, with the IP address of the current request. */
export async function actorOf(
  user: Pick<SessionUser, 'id' | 'operator' | 'sessionId' | 'verified'>,
): Promise<UserActor> {
  const { id: userId, operator, sessionId, verified } = user;
  const required = controlHost().accounts?.verification ?? true;
  const unverified = required && !verified;
  return { kind: 'user', userId, operator, sessionId, unverified, address: await requestAddress() };
}

/** The IP address of the client of the current request; null: unknown. */
export async function requestAddress(): Promise<string | null> {
  return nearestHop((await headers()).get('x-forwarded-for'));
}

/**
 * Its changes are in force in this process before the page gets the result
 * (contract: authentication/change-in-force).
 */
export function controlHost(): ControlHost {
  return getConsoleHost().control;
}
