import { Counter, type Registry } from 'prom-client';
import type { ChargeFlags } from '#lib/gateway/metrics/charge-flags';
import { CountedHistogram } from '#lib/gateway/metrics/counted-histogram';
import { overheadBoundsMs, type Tally } from '#lib/gateway/metrics/tally';

/** Registers what the tally counts: calls by how they ended, refusals without a row, overhead. */
export function registerCalls(registry: Registry, tally: Tally): void {
  const registers = [registry];
  new Counter({
    name: 'gateway_calls_total',
    help: 'Calls that have ended and are in the call log.',
    labelNames: ['family', 'operation', 'status', 'end_reason'],
    registers,
    collect() {
      this.reset();
      for (const { family, operation, status, endReason, count } of tally.calls()) {
        this.inc({ family, operation, status, end_reason: endReason }, count);
      }
    },
  });
  new Counter({
    name: 'gateway_turned_away_total',
    help: 'Calls refused without a row in the call log, because the key is unknown or the gateway cannot account for calls.',
    labelNames: ['code'],
    registers,
    collect() {
      this.reset();
      for (const [code, count] of tally.refusals()) this.inc({ code }, count);
    },
  });
  new CountedHistogram(registry, {
    name: 'gateway_overhead_seconds',
    help: 'Latency of logged calls minus the time taken by providers.',
    boundsMs: overheadBoundsMs,
    read: () => [{ labels: {}, ...tally.overhead() }],
  });
}

/** Registers charges that the operator must look at. */
export function registerChargeFlags(registry: Registry, chargeFlags: ChargeFlags): void {
  new Counter({
    name: 'gateway_flagged_charges_total',
    help: 'Charges for answers that do not fit the catalogue: a tier without a price, or usage beyond what the model allows.',
    labelNames: ['flag', 'model', 'provider'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { flag, model, provider, count } of chargeFlags.counts()) {
        this.inc({ flag, model, provider }, count);
      }
    },
  });
}
