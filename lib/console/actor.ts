import { headers } from 'next/headers';
import { getConsoleHost } from '#lib/console/db';
import type { UserActor } from '#lib/control/operations/actor';
import type { ControlHost } from '#lib/control/operations/run';
import type { SessionUser } from '#lib/control/operations/user/authenticate';
import { nearestHop } from '#lib/platform/client-address';

/** Whoever is signed in, as operations know them, with the address of the request in hand. */
export async function actorOf(
  user: Pick<SessionUser, 'id' | 'operator' | 'sessionId' | 'verified'>,
): Promise<UserActor> {
  const { id: userId, operator, sessionId, verified } = user;
  const required = controlHost().accounts?.verification ?? true;
  const unverified = required && !verified;
  return { kind: 'user', userId, operator, sessionId, unverified, address: await requestAddress() };
}

/** Where the request in hand came from; null: it does not say. */
export async function requestAddress(): Promise<string | null> {
  return nearestHop((await headers()).get('x-forwarded-for'));
}

/** A change is in force in this process before the page hears of it (contract: authentication/change-in-force). */
export function controlHost(): ControlHost {
  return getConsoleHost().control;
}
