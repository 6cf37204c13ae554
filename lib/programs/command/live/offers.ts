import type { OfferHealth } from '#lib/gateway/routing/health';
import { joinHealth, type LiveHealth } from '#lib/gateway/routing/live-health';
import { askProcesses } from '#lib/gateway/snapshot/announce';

/** Asks the processes that run on this data directory what they know of their offers. */
export async function readHealth(dataDir: string): Promise<LiveHealth> {
  return joinHealth((await askProcesses(dataDir, 'health')).map(reported));
}

/** A process of this very program answers with what `Health.list` gives. */
function reported(answer: string): readonly (OfferHealth & { readonly offerId: string })[] {
  try {
    return JSON.parse(answer);
  } catch {
    return [];
  }
}
