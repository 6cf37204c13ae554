import { Counter, Gauge, type Registry } from 'prom-client';
import type { ExportState } from '#lib/programs/telemetry/exporter';

/** Registers how the exporter stands; without one there is nothing to tell. */
export function registerTelemetry(registry: Registry, read: () => ExportState | null): void {
  if (read() === null) return;
  new Counter({
    name: 'gateway_telemetry_calls_total',
    help: 'Calls that the collector took (sent), refused for good (dropped), or was never offered (skipped).',
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
  plain('rejected_spans_total', 'Spans that the collector took out of requests.', (one) => one.rejectedSpans);
  plain('failures_total', 'Requests to the collector that failed and are sent again.', (one) => one.failures);
  new Gauge({
    name: 'gateway_telemetry_backlog_bytes',
    help: 'Bytes of journal files that the collector does not have yet.',
    registers: [registry],
    collect() {
      this.set(read()?.backlogBytes ?? 0);
    },
  });
}
