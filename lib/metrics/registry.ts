import { collectDefaultMetrics, Registry } from 'prom-client';
import { registerCalls, registerChargeFlags } from '#lib/metrics/call-metrics';
import type { ChargeFlags } from '#lib/metrics/charge-flags';
import { registerJobs } from '#lib/metrics/job-metrics';
import { registerOffers } from '#lib/metrics/offer-metrics';
import type { OfferStatus } from '#lib/metrics/offers';
import { type PoolCounts, registerState } from '#lib/metrics/state-metrics';
import type { ProcessState } from '#lib/metrics/status';
import type { Tally } from '#lib/metrics/tally';

/** What the metrics of a process are read from, at each scrape. */
export interface MetricSources {
  readonly tally: Tally;
  readonly chargeFlags: ChargeFlags;
  readonly pool: PoolCounts;
  state(): ProcessState;
  offers(): readonly OfferStatus[];
}

/**
 * All metrics of this process, Node's own included (memory, processor, event loop, collections). Labels
 * hold what the code or the catalogue bounds: never a key, a workspace or anything that a client sends.
 */
export function createRegistry({ tally, chargeFlags, pool, state, offers }: MetricSources): Registry {
  const registry = new Registry();
  registerCalls(registry, tally);
  registerChargeFlags(registry, chargeFlags);
  registerOffers(registry, offers);
  registerJobs(registry, () => state().jobs);
  registerState(registry, state, pool);
  collectDefaultMetrics({ register: registry });
  return registry;
}
