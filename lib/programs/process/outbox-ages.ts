import { setTimeout as pause } from 'node:timers/promises';
import type { OutboxAges } from '#lib/programs/metrics/outbox-metrics';

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
