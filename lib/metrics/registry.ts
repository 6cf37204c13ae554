import { collectDefaultMetrics, Registry } from 'prom-client';
import { registerCalls, registerChargeFlags } from '#lib/metrics/call-metrics';
import type { ChargeFlags } from '#lib/metrics/charge-flags';
import { registerJobs } from '#lib/metrics/job-metrics';
import { registerModels } from '#lib/metrics/model-metrics';
import type { OfferFaults } from '#lib/metrics/offer-faults';
import { registerOfferFaults, registerOffers } from '#lib/metrics/offer-metrics';
import type { OfferStatus } from '#lib/metrics/offers';
import { type OutboxAges, registerOutbox } from '#lib/metrics/outbox-metrics';
import { type PoolCounts, registerMachine, registerState } from '#lib/metrics/state-metrics';
import type { ProcessState } from '#lib/metrics/status';
import type { Tally } from '#lib/metrics/tally';
import { registerTelemetry } from '#lib/metrics/telemetry-metrics';
import type { ExportState } from '#lib/telemetry/exporter';

/** What the metrics of a process are read from, at each scrape. */
export interface MetricSources {
  readonly tally: Tally;
  readonly chargeFlags: ChargeFlags;
  readonly offerFaults: OfferFaults;
  readonly pool: PoolCounts;
  /** null: the database did not tell in time. */
  outbox(): Promise<OutboxAges | null>;
  state(): ProcessState;
  offers(): readonly OfferStatus[];
  /** null: nothing is exported. */
  telemetry(): ExportState | null;
  readonly version: string;
  /** Where the journal is. */
  readonly dataDir: string;
}

/**
 * All metrics of this process, Node's own included (memory, processor, event loop, collections). Labels
 * hold what the code or the catalogue bounds: never a key, a workspace or anything that a client sends.
 */
export function createRegistry(sources: MetricSources): Registry {
  const { tally, chargeFlags, offerFaults, pool, state, offers } = sources;
  const registry = new Registry();
  registerCalls(registry, tally);
  registerModels(registry, tally.models);
  registerChargeFlags(registry, chargeFlags);
  registerOffers(registry, offers);
  registerOfferFaults(registry, offerFaults);
  registerJobs(registry, () => state().jobs);
  registerState(registry, state, pool);
  registerMachine(registry, sources);
  registerOutbox(registry, () => sources.outbox());
  registerTelemetry(registry, () => sources.telemetry());
  collectDefaultMetrics({ register: registry });
  return registry;
}
