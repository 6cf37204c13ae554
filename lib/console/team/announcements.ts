import { cookies } from 'next/headers';
import { controlHost } from '#lib/console/actor';
import { dismissedCookie, readDismissed } from '#lib/console/show/dismissed';
import type { Actor } from '#lib/control/operations/actor';
import {
  currentAnnouncements,
  type ShownAnnouncement,
} from '#lib/control/operations/announcement/operations';
import { ask } from '#lib/control/operations/run';

/** The current announcements that were not dismissed in this browser. */
export async function readAnnouncements(actor: Actor): Promise<readonly ShownAnnouncement[]> {
  const { data } = await ask(controlHost(), currentAnnouncements, { actor, input: {} });
  if (data.length === 0) return data;
  const away = readDismissed((await cookies()).get(dismissedCookie)?.value);
  return data.filter(({ id }) => !away.has(id));
}
