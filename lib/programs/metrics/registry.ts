import { collectDefaultMetrics, Registry } from 'prom-client';
import type { ChargeFlags } from '#lib/gateway/metrics/charge-flags';
import type { OfferFaults } from '#lib/gateway/metrics/offer-faults';
import type { CredentialStatus, OfferStatus } from '#lib/gateway/metrics/offers';
import type { ProcessState } from '#lib/gateway/metrics/status';
import type { Tally } from '#lib/gateway/metrics/tally';
import { registerCalls, registerJobs } from '#lib/programs/metrics/call-metrics';
import { registerModels } from '#lib/programs/metrics/model-metrics';
import {
  registerCredentials,
  registerOfferFaults,
  registerOffers,
} from '#lib/programs/metrics/offer-metrics';
import { type OutboxAges, registerOutbox } from '#lib/programs/metrics/outbox-metrics';
import { type PoolCounts, registerMachine, registerState } from '#lib/programs/metrics/state-metrics';
import { registerTelemetry } from '#lib/programs/metrics/telemetry-metrics';
import type { ExportState } from '#lib/programs/telemetry/exporter';

/** What the metrics of a process are read from, at each scrape. */
export interface MetricSources {
  readonly tally: Tally;
  readonly chargeFlags: ChargeFlags;
  readonly offerFaults: OfferFaults;
  readonly pool: PoolCounts;
  /** null: the database did not answer in time. */
  outbox(): Promise<OutboxAges | null>;
  state(): ProcessState;
  offers(): readonly OfferStatus[];
  credentials(): readonly CredentialStatus[];
  /** null: nothing is exported. */
  telemetry(): ExportState | null;
  readonly version: string;
  /** Where the journal is. */
  readonly dataDir: string;
}

/**
 * All metrics of this process, including Node's own (memory, processor, event loop, collections). The code or the
 * catalogue bounds the values of labels: they never contain a key, a workspace or anything that a client sends.
 */
export function createRegistry(sources: MetricSources): Registry {
  const { tally, chargeFlags, offerFaults, pool, state, offers } = sources;
  const registry = new Registry();
  registerCalls(registry, tally, chargeFlags);
  registerModels(registry, tally.models);
  registerOffers(registry, offers);
  registerCredentials(registry, () => sources.credentials());
  registerOfferFaults(registry, offerFaults);
  registerJobs(registry, () => state().jobs);
  registerState(registry, state, pool);
  registerMachine(registry, sources);
  registerOutbox(registry, () => sources.outbox());
  registerTelemetry(registry, () => sources.telemetry());
  collectDefaultMetrics({ register: registry });
  return registry;
}
