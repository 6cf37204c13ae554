import { adjustmentChecks } from '#lib/billing/adjustment-checks';
import { type Check, jobChecks, keptFrom, priced } from '#lib/billing/job-checks';
import { usageChecks } from '#lib/billing/usage-checks';
import { LONGEST_SLUG } from '#lib/schemas/catalogue';
import { lineSql } from '#lib/settlement/record/stored-lines';

/** The moment of an id (UUIDv7). */
const timeOf = (id: string) =>
  `to_timestamp(('x' || substring(replace(${id}::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0)`;

/** The rows that `usage_hour` counts a call under; see settlement/call-row. */
const countedModel = `coalesce(answering_model, CASE WHEN error_code = 'model_not_allowed'
    OR octet_length(requested_model) > ${LONGEST_SLUG} THEN '' ELSE requested_model END, '')`;
const counted = (figure: string) => `least(greatest((usage->>'${figure}')::numeric, 0), 1000000000000)`;
/** The same where a claimed figure was bounded: what was charged, by its lines; see metering/anomaly. */
const metered = (figure: string, classes: string) => `CASE WHEN 'usage_anomaly' = ANY (flags) THEN (
    SELECT coalesce(sum(${lineSql.quantity('l')}), 0) FROM json_array_elements(lines) AS l
    WHERE split_part(${lineSql.class('l')}, ':', 1) = ANY ('{${classes}}')) ELSE ${counted(figure)} END`;
const isError = `(status >= 400 OR end_reason IN ('upstream_error', 'timeout', 'interrupted'))`;

/** Everything about money and logs that the database alone can show. */
export const checks: readonly Check[] = [
  ...usageChecks,
  ...jobChecks,
  ...adjustmentChecks,
  {
    name: 'the balance of each workspace is the sum of its ledger',
    sql: `SELECT w.id AS workspace, w.balance_nano::text AS balance, coalesce(sum(l.amount_nano), 0)::text AS ledger
      FROM workspace w LEFT JOIN ledger_line l ON l.workspace_id = w.id
      GROUP BY w.id HAVING w.balance_nano <> coalesce(sum(l.amount_nano), 0)`,
  },
  {
    name: 'a key whose spend reached its quota carries the flag, unless it was changed by hand',
    sql: `SELECT k.id AS key, k.spent_nano::text AS spent, k.quota_nano::text AS quota FROM api_key k
      WHERE k.spent_nano >= k.quota_nano AND NOT k.quota_exhausted AND NOT EXISTS (
        SELECT 1 FROM audit a WHERE a.subject = k.id::text AND a.action IN ('key.restore', 'key.set'))`,
  },
  {
    name: 'the minutes of spend agree with the calls, jobs and adjustments',
    sql: `WITH said AS (
        SELECT key_id, minute, spent_nano FROM spend_minute WHERE minute > now() - interval '31 days'
      ), done AS (
        SELECT key_id, date_trunc('minute', at) AS minute, sum(cost_nano) AS spent_nano FROM (
          SELECT key_id, at, cost_nano FROM call
          UNION ALL SELECT key_id, created_at, cost_nano FROM job
          UNION ALL SELECT c.key_id, coalesce(j.created_at, c.at), a.amount_nano
            FROM adjustment a JOIN call c ON c.id = a.call_id LEFT JOIN job j ON j.call_id = a.call_id
        ) AS spent
        WHERE cost_nano <> 0 AND at >= date_trunc('minute', now() - interval '31 days') + interval '1 minute'
        GROUP BY 1, 2
      )
      SELECT key_id AS key, minute, said.spent_nano::text AS said, done.spent_nano::text AS charged
      FROM said FULL JOIN done USING (key_id, minute) LEFT JOIN api_key k ON k.id = key_id
      LEFT JOIN (SELECT workspace_id, max(deleted_to::text) AS id FROM ledger_check GROUP BY 1) AS deleted
        ON deleted.workspace_id = k.workspace_id
      WHERE said.spent_nano IS DISTINCT FROM done.spent_nano
        AND minute > ${timeOf(keptFrom)} + interval '1 hour'
        AND (deleted.id IS NULL OR minute > ${timeOf('deleted.id')} + interval '1 hour')`,
  },
  {
    // Hours of before count a claimed figure as it was claimed, today's as it was charged.
    name: 'the hours of usage agree with the calls, jobs and adjustments',
    sql: `WITH parts AS (
        SELECT workspace_id, at, key_id, ${countedModel} AS model, coalesce(provider, '') AS provider, 1 AS calls,
          (${isError})::int AS errors, usage, lines, flags, 0 AS more_input, 0 AS more_cached, 0 AS more_output,
          cost_nano
        FROM call
        UNION ALL
        SELECT workspace_id, created_at, key_id, model_id, provider_id, 0, 0, usage, lines, flags, 0, 0, 0, cost_nano
        FROM job WHERE settled_at IS NOT NULL
        UNION ALL
        SELECT c.workspace_id, coalesce(j.created_at, c.at), c.key_id, coalesce(j.model_id, c.answering_model, ''),
          coalesce(j.provider_id, c.provider, ''), 0, 0, '{}', '[]', '{}', a.more_input, a.more_cached, a.more_output,
          a.amount_nano
        FROM adjustment a JOIN call c ON c.id = a.call_id LEFT JOIN job j ON j.call_id = a.call_id
        WHERE a.settled_at IS NOT NULL
      ), done AS (
        SELECT workspace_id, date_trunc('hour', at, 'UTC') AS hour, key_id, model, provider, sum(calls) AS calls,
          sum(errors) AS errors, sum(cost_nano) AS cost,
          sum(${counted('input')} + more_input) AS input, sum(${metered('input', 'input,audioInput,imageInput')} + more_input) AS least_input,
          sum(${counted('cachedInput')} + more_cached) AS cached, sum(${metered('cachedInput', 'cachedInput')} + more_cached) AS least_cached,
          sum(${counted('output')} + more_output) AS output,
          sum(${metered('output', 'output,reasoning,audioOutput,imageOutput')} + more_output) AS least_output
        FROM parts GROUP BY 1, 2, 3, 4, 5
      )
      SELECT workspace_id AS workspace, hour, key_id AS key, model, provider, u.calls, done.calls::int AS logged,
        u.cost_nano::text AS cost, done.cost::text AS charged
      FROM usage_hour u FULL JOIN done USING (workspace_id, hour, key_id, model, provider)
      WHERE hour > ${timeOf(keptFrom)} + interval '1 hour' AND (u.hour IS NOT NULL OR done.calls > 0 OR done.cost > 0)
        AND ((u.calls, u.errors, u.cost_nano) IS DISTINCT FROM (done.calls, done.errors, done.cost)
          OR u.input_tokens NOT BETWEEN least_input AND input OR u.cached_tokens NOT BETWEEN least_cached AND cached
          OR u.output_tokens NOT BETWEEN least_output AND output)`,
  },
  {
    name: 'each charge is the sum of its lines rounded up once, or its hold where that is less',
    sql: `SELECT c.id AS call, c.cost_nano::text AS cost, priced.cost::text AS lines
      FROM call c CROSS JOIN LATERAL (${priced('c.lines')}) AS priced
      WHERE c.cost_nano <> priced.cost AND NOT (c.cost_nano = c.hold_nano AND c.cost_nano < priced.cost)`,
  },
  {
    name: 'what a charge exceeds its hold by is recorded, and nothing is charged to refused calls',
    sql: `SELECT id AS call, cost_nano::text AS cost, hold_nano::text AS hold, over_hold_nano::text AS over
      FROM call WHERE over_hold_nano <> greatest(0, cost_nano - hold_nano) OR cost_nano < 0 OR hold_nano < 0
        OR (end_reason = 'refused' AND cost_nano <> 0)`,
  },
  {
    name: 'a charge of a strict workspace never exceeds its hold',
    sql: `SELECT c.id AS call, c.over_hold_nano::text AS over FROM call c
      JOIN workspace w ON w.id = c.workspace_id
      WHERE w.strict AND c.over_hold_nano > 0 AND NOT EXISTS (
        SELECT 1 FROM audit a WHERE a.workspace_id = w.id AND a.action = 'workspace.set' AND a.at >= c.at)`,
  },
  {
    name: 'holds and leases belong to living processes',
    sql: `SELECT 'hold' AS kind, h.call_id AS subject, h.owner_id AS owner
      FROM hold h LEFT JOIN owner o ON o.id = h.owner_id
      WHERE h.owner_id IS NOT NULL AND (o.id IS NULL OR o.expires_at < now() - interval '1 minute')
      UNION ALL
      SELECT 'lease', l.subject_id, l.owner_id FROM lease l JOIN owner o ON o.id = l.owner_id
      WHERE o.expires_at < now() - interval '1 minute'`,
  },
  {
    name: 'a hold row ends with its call',
    sql: `SELECT h.call_id AS call FROM hold h JOIN call c ON c.id = h.call_id
      WHERE h.owner_id IS NOT NULL AND h.amount_nano > 0`,
  },
  {
    name: 'what is held and leased is never below zero',
    sql: `SELECT owner_id AS owner, kind, subject_id AS subject, granted_nano::text AS granted, held_nano::text AS held
      FROM lease WHERE granted_nano < 0 OR held_nano < 0`,
  },
];
