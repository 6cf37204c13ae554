import { Counter, Gauge, type Registry } from 'prom-client';
import type { ExportState } from '#lib/programs/telemetry/exporter';

/** Registers the state of the exporter, if there is one. */
export function registerTelemetry(registry: Registry, read: () => ExportState | null): void {
  if (read() === null) return;
  new Counter({
    name: 'gateway_telemetry_calls_total',
    help: 'Calls that the collector accepted (sent), rejected permanently (dropped), or was never sent (skipped).',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      const { sent = 0, dropped = 0, skipped = 0 } = read() ?? {};
      for (const [outcome, count] of Object.entries({ sent, dropped, skipped })) this.inc({ outcome }, count);
    },
  });
  const plain = (name: string, help: string, count: (state: ExportState) => number) =>
    new Counter({
      name: `gateway_telemetry_${name}`,
      help,
      registers: [registry],
      collect() {
        this.reset();
        const state = read();
        if (state) this.inc(count(state));
      },
    });
  plain(
    'rejected_spans_total',
    'Spans that the collector rejected from requests that it accepted.',
    (one) => one.rejectedSpans,
  );
  plain(
    'failures_total',
    'Requests to the collector that failed and were sent again.',
    (one) => one.failures,
  );
  new Gauge({
    name: 'gateway_telemetry_backlog_bytes',
    help: 'Bytes of journal files not yet sent to the collector.',
    registers: [registry],
    collect() {
      this.set(read()?.backlogBytes ?? 0);
    },
  });
}
