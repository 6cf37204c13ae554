import { ownFeeClass } from '#lib/core/metering/own-fee';
import { lineSql } from '#lib/gateway/settlement/record/stored-lines';

/** One invariant of money or logs: a query that must return no row. */
export interface Check {
  readonly name: string;
  /** With the parameters of a `Slice` where it is `sliced`. */
  readonly sql: string;
  /** Run for one part of the log after the other. */
  readonly sliced?: true;
  /** What operators can do if it returns some; absent: there is no general remedy. */
  readonly remedy?: string;
}

const isFee = `${lineSql.class('l')} = '${ownFeeClass}'`;
const roundedUp = (sum: string) => `div(coalesce(${sum}, 0) + 999999, 1000000)`;
const ofLines = (lines: string) => `json_array_elements(coalesce(${lines}, '[]')) AS l`;
const listPrice = roundedUp(`sum(${lineSql.share('l')}) FILTER (WHERE NOT ${isFee})`);

/** The sum of the lines of a charge, rounded up once; of a charge by an own key, its fee. */
export const priced = (lines: string) => `
  SELECT CASE WHEN bool_or(${isFee}) THEN ${roundedUp(`sum(${lineSql.share('l')}) FILTER (WHERE ${isFee})`)}
    ELSE ${listPrice} END AS cost
  FROM ${ofLines(lines)}`;

/** The fees of own keys whose list price is not the sum of the other lines. @param table with `lines` and `flags`. */
const wrongFees = (table: 'call' | 'job' | 'adjustment', id: string) => `
  SELECT '${table}' AS what, t.${id} AS subject, fee.list::text AS list, fee.sum::text AS lines
  FROM ${table} AS t CROSS JOIN LATERAL (
    SELECT sum(${lineSql.quantity('l')}) FILTER (WHERE ${isFee}) AS list, ${listPrice} AS sum FROM ${ofLines('t.lines')}
  ) AS fee
  WHERE 'own_key' = ANY (t.flags) AND fee.list IS DISTINCT FROM fee.sum AND (fee.list IS NOT NULL OR fee.sum <> 0)`;

/** What own keys cost (contract: own-keys/fee). */
export const ownKeyChecks: readonly Check[] = [
  {
    name: 'the fee of each charge by an own key is of its list price, which its other lines add up to',
    sql: [wrongFees('call', 'id'), wrongFees('job', 'call_id'), wrongFees('adjustment', 'call_id')].join(
      ' UNION ALL ',
    ),
  },
];

/** The money of jobs (contract: jobs/charged-once). */
export const jobChecks: readonly Check[] = [
  {
    name: 'each job with a charge is settled, and has a ledger line of its own if it was given up before',
    sql: `SELECT j.call_id AS job, j.cost_nano::text AS cost, (-l.amount_nano)::text AS posted
      FROM job j LEFT JOIN ledger_line l ON l.kind = 'adjustment' AND l.ref = j.call_id::text AND j.lost_at IS NOT NULL
      WHERE j.cost_nano <> 0 AND (j.settled_at IS NULL OR (j.lost_at IS NOT NULL
        AND (l.amount_nano, l.workspace_id, l.key_id) IS DISTINCT FROM (-j.cost_nano, j.workspace_id, j.key_id)))`,
  },
  {
    name: 'a hold without a process belongs to a job that is not settled, and is what the job holds',
    sql: `SELECT coalesce(h.call_id, j.call_id) AS job, h.amount_nano::text AS held, j.hold_nano::text AS said
      FROM (SELECT * FROM hold WHERE owner_id IS NULL) AS h
      FULL JOIN (SELECT * FROM job WHERE settled_at IS NULL AND lost_at IS NULL) AS j USING (call_id)
      WHERE (h.amount_nano, h.workspace_id, h.key_id, h.admitted_at)
        IS DISTINCT FROM (j.hold_nano, j.workspace_id, j.key_id, j.created_at)`,
  },
  {
    name: 'a job is polled until it is settled, and has ended then',
    sql: `SELECT call_id AS job, state, next_poll_at, settled_at FROM job
      WHERE (next_poll_at IS NULL) <> (settled_at IS NOT NULL)
        OR (settled_at IS NULL AND cost_nano <> 0)
        OR (settled_at IS NULL AND state NOT IN ('queued', 'running') AND created_at < now() - interval '5 minutes')
        OR (settled_at IS NOT NULL AND state IN ('queued', 'running') AND lost_at IS NULL)`,
  },
  {
    name: 'each charge of a job is the sum of its lines rounded up once, or its hold',
    sql: `SELECT j.call_id AS job, j.cost_nano::text AS cost, priced.cost::text AS lines
      FROM job j CROSS JOIN LATERAL (${priced('j.lines')}) AS priced
      WHERE j.kind <> 'batch' AND j.cost_nano <> priced.cost AND NOT (j.cost_nano = j.hold_nano
        AND (j.cost_nano < priced.cost OR j.usage_source = 'estimated'))`,
  },
  {
    name: 'the charge of a batch is the sum of what its lines cost, or its hold',
    sql: `SELECT j.call_id AS job, j.cost_nano::text AS cost, coalesce(b.cost, 0)::text AS lines
      FROM job j LEFT JOIN (SELECT call_id, sum(cost_nano) AS cost FROM batch_line GROUP BY call_id) AS b USING (call_id)
      WHERE j.kind = 'batch' AND j.settled_at IS NOT NULL AND j.cost_nano <> coalesce(b.cost, 0)
        AND NOT (j.cost_nano = j.hold_nano AND (j.cost_nano < b.cost OR j.usage_source = 'estimated'))`,
  },
  {
    name: 'what a line of a batch costs is its own sum rounded up once, and it belongs to the workspace of its batch',
    sql: `SELECT b.call_id AS job, b.custom_id AS line, b.cost_nano::text AS cost, priced.cost::text AS lines
      FROM batch_line b JOIN job j USING (call_id) CROSS JOIN LATERAL (${priced('b.lines')}) AS priced
      WHERE b.workspace_id <> j.workspace_id OR (b.cost_nano <> priced.cost
        AND NOT b.flags && ARRAY['job_unreported', 'job_unpriced'])`,
  },
  {
    name: 'the amount by which the charge of a job exceeds its hold is recorded',
    sql: `SELECT call_id AS job, cost_nano::text AS cost, hold_nano::text AS hold, over_hold_nano::text AS over
      FROM job WHERE over_hold_nano <> greatest(0, cost_nano - hold_nano) OR cost_nano < 0 OR hold_nano < 0`,
  },
  {
    name: 'a job of a strict workspace is never charged above its hold',
    sql: `SELECT j.call_id AS job, j.over_hold_nano::text AS over FROM job j
      JOIN workspace w ON w.id = j.workspace_id
      WHERE w.strict AND j.over_hold_nano > 0 AND NOT EXISTS (
        SELECT 1 FROM audit a WHERE a.workspace_id = w.id AND a.action = 'workspace.set' AND a.at >= j.created_at)`,
  },
];
