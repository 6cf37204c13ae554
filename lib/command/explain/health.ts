import type { OfferHealth } from '#lib/routing/health';
import { askProcesses } from '#lib/snapshot/announce';

/** What running gateway processes know of their offers. */
export interface LiveHealth {
  /** How many processes of this data directory answered. */
  readonly processes: number;
  of(offerId: string): OfferHealth;
}

const unknown = { value: null, atMs: 0 };
const untried: OfferHealth = {
  streamFirstByteMs: unknown,
  wholeMs: unknown,
  tokensPerSecond: unknown,
  cachedShare: 0,
  errorRate: 0,
  failures: 0,
  running: 0,
  openUntilMs: 0,
  tripped: false,
  probing: false,
};

/**
 * Asks the processes that run on this data directory. Each learns by itself; of several, the one that
 * has set an offer aside for longest is shown. Without one, every offer counts as healthy.
 */
export async function readHealth(dataDir: string): Promise<LiveHealth> {
  const offers = new Map<string, OfferHealth>();
  const answers = await askProcesses(dataDir, 'health');
  for (const answer of answers) {
    for (const { offerId, ...health } of reported(answer)) {
      const known = offers.get(offerId);
      if (!known || health.openUntilMs > known.openUntilMs) offers.set(offerId, health);
    }
  }
  return { processes: answers.length, of: (offerId) => offers.get(offerId) ?? untried };
}

/** A process of this very program answers with what `Health.list` gives. */
function reported(answer: string): readonly (OfferHealth & { readonly offerId: string })[] {
  try {
    return JSON.parse(answer);
  } catch {
    return [];
  }
}
