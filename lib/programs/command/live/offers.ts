import type { OfferHealth } from '#lib/gateway/routing/health';
import { joinHealth, type LiveHealth } from '#lib/gateway/routing/live-health';
import { askProcesses } from '#lib/gateway/snapshot/announce';

/** Asks the processes on this data directory what they know about their offers. */
export async function readHealth(dataDir: string): Promise<LiveHealth> {
  return joinHealth((await askProcesses(dataDir, 'health')).map(reported));
}

/** A process of this version answers with the result of `Health.list`. */
function reported(answer: string): readonly (OfferHealth & { readonly offerId: string })[] {
  try {
    return JSON.parse(answer);
  } catch {
    return [];
  }
}
