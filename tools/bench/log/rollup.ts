import type { Pool } from 'pg';
import { dayMs } from '#lib/control/retention/weeks';
import { bounds } from '#lib/core/metering/histogram';
import { sumNames } from '#lib/gateway/settlement/usage/columns';
import { foldUsage } from '#lib/gateway/settlement/usage/fold';
import { idFloor } from '#lib/platform/ids';
import type { Amount } from './load.ts';

const bucket = (ms: string) => `width_bucket(${ms}, '{${bounds.join(',')}}'::int[])`;

/** The sums of the calls in a range of ids, as settlement would have added them. */
const insertQuarters = `
  WITH figures AS (
    SELECT workspace_id, date_bin('15 minutes', at, '2000-01-01T00:00:00Z') AS quarter, key_id,
      coalesce(answering_model, requested_model, '') AS model, coalesce(provider, '') AS provider, status, end_reason,
      json_array_length(attempts) AS tried, (usage->>'input')::bigint AS input, (usage->>'output')::bigint AS output,
      coalesce((usage->>'cachedInput')::bigint, 0) AS cached, cost_nano,
      CASE WHEN end_reason <> 'refused' THEN ${bucket('latency_ms')} END AS latency,
      CASE WHEN end_reason <> 'refused' THEN ${bucket('first_byte_ms')} END AS first_byte
    FROM call WHERE id >= $1::uuid AND id < $2::uuid
  ), sums AS (
    SELECT workspace_id, quarter, key_id, model, provider, count(*) AS calls,
      count(*) FILTER (WHERE end_reason = 'refused') AS refused,
      count(*) FILTER (WHERE end_reason <> 'refused' AND status = 400) AS client_errors,
      count(*) FILTER (WHERE end_reason = 'refused') AS limit_errors,
      count(*) FILTER (WHERE status = 503) AS provider_errors,
      sum(tried) AS attempts, count(*) FILTER (WHERE tried > 1) AS fallbacks,
      sum(input) AS input, sum(cached) AS cached, sum(output) AS output, sum(cost_nano) AS cost
    FROM figures GROUP BY 1, 2, 3, 4, 5
  ), latencies AS (
    SELECT workspace_id, quarter, key_id, model, provider, sum(n * ('1e' || 12 * latency)::numeric) AS latency FROM (
      SELECT workspace_id, quarter, key_id, model, provider, latency, count(*) AS n FROM figures
      WHERE latency IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6) AS counted GROUP BY 1, 2, 3, 4, 5
  ), first_bytes AS (
    SELECT workspace_id, quarter, key_id, model, provider, sum(n * ('1e' || 12 * first_byte)::numeric) AS first_byte FROM (
      SELECT workspace_id, quarter, key_id, model, provider, first_byte, count(*) AS n FROM figures
      WHERE first_byte IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6) AS counted GROUP BY 1, 2, 3, 4, 5
  )
  INSERT INTO usage_quarter (workspace_id, quarter, key_id, model, provider, calls, refused, client_errors, limit_errors,
    provider_errors, attempts, fallbacks, input_tokens, cached_tokens, output_tokens, cost_nano, latency, first_byte)
  SELECT s.workspace_id, s.quarter, s.key_id, s.model, s.provider, s.calls, s.refused, s.client_errors, s.limit_errors,
    s.provider_errors, s.attempts, s.fallbacks, s.input, s.cached, s.output, s.cost, coalesce(l.latency, 0),
    coalesce(f.first_byte, 0)
  FROM sums s LEFT JOIN latencies l USING (workspace_id, quarter, key_id, model, provider)
  LEFT JOIN first_bytes f USING (workspace_id, quarter, key_id, model, provider)
  ORDER BY quarter, workspace_id`;

/** Fills the sums of usage from the calls, one day at a time. */
export async function fillUsage(pool: Pool, { days, untilMs }: Amount): Promise<void> {
  // The days of the loader begin at a whole quarter of an hour.
  for (let fromMs = untilMs - days * dayMs; fromMs < untilMs; fromMs += dayMs) {
    await pool.query(insertQuarters, [idFloor(fromMs), idFloor(fromMs + dayMs)]);
  }
}

/** Sums up finished days, as a gateway does in the background. @param untilMs where the log ends. */
export async function countDays(pool: Pool, untilMs: number): Promise<void> {
  await pool.query('INSERT INTO seen_time (one, at) VALUES (1, $1) ON CONFLICT DO NOTHING', [
    new Date(untilMs),
  ]);
  await foldUsage(pool, untilMs);
  // A gateway counts every hour, so that this table never has the room of 60 days.
  await pool.query('VACUUM FULL ANALYZE usage_quarter');
  await pool.query('VACUUM ANALYZE');
}

export interface Totals {
  readonly calls: string;
  readonly cost: string;
  readonly input: string;
  readonly output: string;
}

/** The same figures from the calls and from their sums, which must be equal. */
export async function compareTotals(pool: Pool): Promise<{ log: Totals; usage: Totals }> {
  const log = await pool.query<Totals>(
    `SELECT count(*)::text AS calls, sum(cost_nano)::text AS cost, sum((usage->>'input')::bigint)::text AS input,
       sum((usage->>'output')::bigint)::text AS output FROM call`,
  );
  const usage = await pool.query<Totals>(
    `SELECT sum(calls)::text AS calls, sum(cost_nano)::text AS cost, sum(input_tokens)::text AS input,
       sum(output_tokens)::text AS output FROM (
         SELECT ${sumNames.join(', ')} FROM usage_quarter UNION ALL SELECT ${sumNames.join(', ')} FROM usage_day) AS part`,
  );
  const none = { calls: '0', cost: '0', input: '0', output: '0' };
  return { log: log.rows[0] ?? none, usage: usage.rows[0] ?? none };
}
