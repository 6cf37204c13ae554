import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import { askProcesses } from '#lib/gateway/snapshot/announce';
import type { Env } from '#lib/platform/env/env';
import { ownVersion } from '#lib/platform/own-version';
import { joinScrapes } from '#lib/programs/metrics/join-scrapes';
import type { OutboxAges } from '#lib/programs/metrics/outbox-metrics';
import type { GatewayProcess } from '#lib/programs/process/assemble';

/** How long a worker may take to return its metrics, ms: a busy worker must not delay the scrape. */
const othersWithinMs = 2_000;

/** Answers `/api/metrics`. */
export type ServeMetrics = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * The metrics of this process in Prometheus' text format, for clients that send METRICS_TOKEN as a bearer token. If it
 * is not set, nothing is collected and every client is refused, even from this machine: behind a proxy on the same
 * machine all clients come from there, so that an open default would publish models, providers and traffic. People on
 * the machine have `gateway health`, which needs no token.
 *
 * A worker returns the metrics of all workers of its machine, each with its number as the label `worker`, so that the
 * counters of a worker that was started again begin at 0 without affecting the others.
 */
export async function openMetrics(
  env: Pick<Env, 'metricsToken' | 'dataDir'>,
  pool: Pool,
  running: GatewayProcess,
  worker: number | null,
): Promise<ServeMetrics> {
  const { metricsToken } = env;
  if (metricsToken === null) {
    return (_, response) =>
      say(
        response,
        403,
        'Metrics are off. Set METRICS_TOKEN, restart the gateway, and send the token as a bearer token.',
      );
  }
  const { createRegistry } = await import('#lib/programs/metrics/registry');
  const { state, offers, credentials, telemetry, runtime } = running;
  const registry = createRegistry({
    tally: runtime.tally,
    chargeFlags: runtime.chargeFlags,
    offerFaults: runtime.offerFaults,
    pool,
    outbox: outboxAges(pool),
    state,
    offers,
    credentials,
    telemetry,
    version: ownVersion(),
    dataDir: env.dataDir,
  });
  let read = () => registry.metrics();
  if (worker !== null) {
    registry.setDefaultLabels({ worker: String(worker) });
    running.answers.metrics = () => registry.metrics();
    read = async () => joinScrapes(await askProcesses(env.dataDir, 'metrics', othersWithinMs));
  }
  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      say(response, 405, 'Metrics accept only GET.', { allow: 'GET, HEAD' });
    } else if (!isToken(request.headers.authorization, metricsToken)) {
      const how = { 'www-authenticate': 'Bearer' };
      say(response, 401, 'Send the METRICS_TOKEN of this gateway: "Authorization: Bearer <token>".', how);
    } else {
      scrape(registry.contentType, read, response).catch((error: unknown) => {
        runtime.report(error, null);
        say(response, 500, 'The metrics could not be read. The log of the gateway says why.');
      });
    }
  };
}

/** Whether a request is for the metrics, with or without a query. */
export function isMetricsTarget(target: string): boolean {
  return /^\/api\/metrics(?:\?|$)/.test(target);
}

async function scrape(type: string, read: () => Promise<string>, response: ServerResponse): Promise<void> {
  const text = await read();
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(text);
}

/** Compares digests, so that the time it takes reveals neither the length nor the first difference. */
function isToken(header: string | undefined, token: string): boolean {
  const [, sent = ''] = /^Bearer +(.+)$/i.exec(header ?? '') ?? [];
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(sent), digest(token));
}

function say(response: ServerResponse, status: number, text: string, headers = {}): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers });
  response.end(`${text}\n`);
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
function outboxAges(pool: Pool): () => Promise<OutboxAges | null> {
  let running: Promise<OutboxAges | null> | null = null;
  return () => {
    running ??= pool
      .query<OutboxAges>(agesSql)
      .then(({ rows }) => rows[0] ?? null)
      .catch(() => null)
      .finally(() => {
        running = null;
      });
    return Promise.race([running, pause(withinMs, null, { ref: false })]);
  };
}
