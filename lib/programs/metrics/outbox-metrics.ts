import { setTimeout as pause } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';

/** How long the oldest has waited, s; 0: nothing is waiting. */
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

interface Queries {
  query(text: string): Promise<{ rows: OutboxAges[] }>;
}

/** A scrape does not wait longer for a database that is away, ms. */
const withinMs = 1_000;

const agesSql = `
  SELECT coalesce((SELECT extract(epoch FROM now() - min(created_at)) FROM mail
      WHERE next_try_at IS NOT NULL AND expires_at > now()), 0)::float8 AS mail,
    coalesce((SELECT extract(epoch FROM now() - min(d.next_try_at)) FROM webhook_delivery d
      JOIN webhook w ON w.id = d.webhook_id
      WHERE d.next_try_at <= now() AND w.enabled), 0)::float8 AS webhook`;

/** @returns a function that reads the ages, one query at a time; null when the database does not answer in time. */
export function outboxAges(pool: Queries): () => Promise<OutboxAges | null> {
  let running: Promise<OutboxAges | null> | null = null;
  return () => {
    running ??= pool
      .query(agesSql)
      .then(({ rows }) => rows[0] ?? null)
      .catch(() => null)
      .finally(() => {
        running = null;
      });
    return Promise.race([running, pause(withinMs, null, { ref: false })]);
  };
}
