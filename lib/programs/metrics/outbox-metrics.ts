import { Gauge, type Registry } from 'prom-client';

/** How long the oldest has been waiting, s; 0: nothing is waiting. */
export interface OutboxAges {
  /** Since the mail was made. */
  readonly mail: number;
  /** Since the delivery was due: one that its receiver refuses is due later, and does not count until then. */
  readonly webhook: number;
}

/** Registers how long mail and webhooks wait; without samples while the database does not answer. */
export function registerOutbox(registry: Registry, read: () => Promise<OutboxAges | null>): void {
  new Gauge({
    name: 'gateway_outbox_oldest_seconds',
    help: 'Age of the oldest unsent email, and how long the oldest webhook delivery is overdue.',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      const ages = await read();
      this.reset();
      if (ages === null) return;
      this.set({ kind: 'mail' }, ages.mail);
      this.set({ kind: 'webhook' }, ages.webhook);
    },
  });
}
