import type { Registry } from 'prom-client';
import type { ChargeFlags } from '#lib/gateway/metrics/charge-flags';
import { CountedHistogram } from '#lib/gateway/metrics/counted-histogram';
import type { ProcessState } from '#lib/gateway/metrics/status';
import { overheadBoundsMs, type Tally } from '#lib/gateway/metrics/tally';
import { registerCounter } from '#lib/programs/metrics/counter';

/** Registers calls by how they ended, refusals without a row, overhead, and charges that the operator must check. */
export function registerCalls(registry: Registry, tally: Tally, chargeFlags: ChargeFlags): void {
  registerCounter(registry, {
    name: 'gateway_calls_total',
    help: 'Calls that have ended and are in the call log.',
    labelNames: ['family', 'operation', 'status', 'end_reason'],
    read: () =>
      tally.calls().map(({ count, endReason, ...labels }) => [{ ...labels, end_reason: endReason }, count]),
  });
  registerCounter(registry, {
    name: 'gateway_turned_away_total',
    help: 'Calls refused without a row in the call log, because the key is unknown or the gateway cannot account for calls.',
    labelNames: ['code'],
    read: () => tally.refusals().map(([code, count]) => [{ code }, count]),
  });
  new CountedHistogram(registry, {
    name: 'gateway_overhead_seconds',
    help: 'Latency of logged calls minus the time taken by providers.',
    boundsMs: overheadBoundsMs,
    read: () => [{ labels: {}, ...tally.overhead() }],
  });
  registerCounter(registry, {
    name: 'gateway_flagged_charges_total',
    help: 'Charges for answers that do not fit the catalogue: a tier without a price, or usage beyond what the model allows.',
    labelNames: ['flag', 'model', 'provider'],
    read: () =>
      chargeFlags.counts().map(({ flag, model, provider, count }) => [{ flag, model, provider }, count]),
  });
}

/** Registers the jobs that this process created, and those that it settled or lost, wherever they were created. */
export function registerJobs(registry: Registry, read: () => ProcessState['jobs']): void {
  registerCounter(registry, {
    name: 'gateway_jobs_total',
    help: 'Jobs that this process opened, charged, released when they ended, or gave up as lost after 24 hours.',
    labelNames: ['event'],
    read: () => Object.entries(read()).map(([event, count]) => [{ event }, count]),
  });
}
