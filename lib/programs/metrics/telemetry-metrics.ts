import { Gauge, type Registry } from 'prom-client';
import { registerCounter } from '#lib/programs/metrics/counter';
import type { ExportState } from '#lib/programs/telemetry/exporter';

/** Registers the state of the exporter, if there is one. */
export function registerTelemetry(registry: Registry, read: () => ExportState | null): void {
  if (read() === null) return;
  registerCounter(registry, {
    name: 'gateway_telemetry_calls_total',
    help: 'Calls that the collector accepted (sent), rejected permanently (dropped), or was never sent (skipped).',
    labelNames: ['outcome'],
    read: () => {
      const { sent = 0, dropped = 0, skipped = 0 } = read() ?? {};
      return Object.entries({ sent, dropped, skipped }).map(([outcome, count]) => [{ outcome }, count]);
    },
  });
  registerCounter(registry, {
    name: 'gateway_telemetry_rejected_spans_total',
    help: 'Spans that the collector rejected from requests that it accepted.',
    read: () => [[{}, read()?.rejectedSpans ?? 0]],
  });
  registerCounter(registry, {
    name: 'gateway_telemetry_failures_total',
    help: 'Requests to the collector that failed and were sent again.',
    read: () => [[{}, read()?.failures ?? 0]],
  });
  new Gauge({
    name: 'gateway_telemetry_backlog_bytes',
    help: 'Bytes of journal files not yet sent to the collector.',
    registers: [registry],
    collect() {
      this.set(read()?.backlogBytes ?? 0);
    },
  });
}
