import { headers } from 'next/headers';
import { getConsoleHost } from '#lib/console/db';
import { nearestHop } from '#lib/console/forwarded';
import type { UserActor } from '#lib/control/actor';
import type { ControlHost } from '#lib/control/run';

/** Whoever is signed in, as operations know them, with the address of the request in hand. */
export async function actorOf(user: { id: string; operator: boolean }): Promise<UserActor> {
  const address = nearestHop((await headers()).get('x-forwarded-for'));
  return { kind: 'user', userId: user.id, operator: user.operator, address };
}

/** A change is in force in this process before the page hears of it (contract: authentication/change-in-force). */
export function controlHost(): ControlHost {
  return getConsoleHost().control;
}
