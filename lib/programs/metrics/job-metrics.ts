import { Counter, type Registry } from 'prom-client';
import type { JobCounts } from '#lib/gateway/jobs/counts';

/** Registers what became of jobs in this process: created here, settled or lost wherever they were created. */
export function registerJobs(registry: Registry, read: () => JobCounts): void {
  new Counter({
    name: 'gateway_jobs_total',
    help: 'Jobs that this process opened, charged, released when they ended, or gave up as lost after 24 hours.',
    labelNames: ['event'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [event, count] of Object.entries(read())) this.inc({ event }, count);
    },
  });
}
