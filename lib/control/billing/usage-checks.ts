import type { Check } from '#lib/control/billing/job-checks';

/** Calls and jobs of the log that make up usage lines; a job that was given up before its charge has its own line. */
const receipts = `
  SELECT workspace_id, key_id, settled_at, cost_nano FROM call WHERE cost_nano <> 0
  UNION ALL
  SELECT workspace_id, key_id, settled_at, cost_nano FROM job
  WHERE cost_nano <> 0 AND settled_at IS NOT NULL AND lost_at IS NULL`;

/** Usage lines against the calls and jobs that they contain (contract: money/postings). */
export const usageChecks: readonly Check[] = [
  {
    name: 'each usage line is the cost of the calls and jobs that were settled in its quarter of an hour',
    sql: `WITH line AS (
        SELECT workspace_id, at AS quarter, -amount_nano AS posted, calls AS lines FROM ledger_line WHERE kind = 'usage'
      ), kept AS (
        SELECT workspace_id, quarter, sum(spent_nano) AS spent, sum(calls) AS calls FROM (
          SELECT workspace_id, ledger_quarter(settled_at) AS quarter, sum(cost_nano) AS spent_nano, count(*) AS calls
          FROM (${receipts}) AS receipt GROUP BY 1, 2
          UNION ALL SELECT workspace_id, quarter, spent_nano, calls FROM open_quarter
        ) AS part GROUP BY 1, 2
      )
      SELECT workspace_id AS workspace, quarter, posted::text, lines AS posted_calls, spent::text, kept.calls::int
      FROM line FULL JOIN kept USING (workspace_id, quarter)
      WHERE (posted, lines) IS DISTINCT FROM (spent, kept.calls) AND (kept.calls IS NOT NULL OR NOT EXISTS (
        SELECT FROM ledger_check c WHERE c.workspace_id = line.workspace_id
          AND line.quarter BETWEEN ledger_quarter(c.from_at) AND c.to_at))`,
  },
  {
    name: 'the usage lines of each workspace are the cost of all its calls and jobs, deleted ones included',
    sql: `SELECT workspace_id AS workspace, posted::text, posted_calls::int, spent::text, calls::int
      FROM (
        SELECT workspace_id, -sum(amount_nano) AS posted, sum(calls) AS posted_calls
        FROM ledger_line WHERE kind = 'usage' GROUP BY 1
      ) AS line FULL JOIN (
        SELECT workspace_id, sum(spent_nano) AS spent, sum(calls) AS calls FROM (
          SELECT workspace_id, sum(cost_nano) AS spent_nano, count(*) AS calls FROM (${receipts}) AS receipt GROUP BY 1
          UNION ALL SELECT workspace_id, spent_nano, calls FROM ledger_check
        ) AS part GROUP BY 1
      ) AS charged USING (workspace_id)
      WHERE (posted, posted_calls) IS DISTINCT FROM (spent, calls)`,
  },
  {
    name: 'the spend of each key is the cost of its calls, jobs and adjustments, deleted ones included',
    sql: `SELECT k.id AS key, k.spent_nano::text AS spent, coalesce(charged.spent, 0)::text AS charged
      FROM api_key k LEFT JOIN (
        SELECT key_id, sum(nano) AS spent FROM (
          SELECT key_id, sum(cost_nano) AS nano FROM (${receipts}) AS receipt GROUP BY 1
          UNION ALL SELECT key_id, spent_nano FROM closed_spend
          UNION ALL SELECT key_id, -amount_nano FROM ledger_line WHERE key_id IS NOT NULL
        ) AS part GROUP BY 1
      ) AS charged ON charged.key_id = k.id
      WHERE k.spent_nano <> coalesce(charged.spent, 0)`,
  },
  {
    name: 'the sum of each day of the ledger is the sum of its lines',
    sql: `SELECT workspace_id AS workspace, day, d.amount_nano::text AS said, lines.nano::text AS lines
      FROM ledger_day d FULL JOIN (
        SELECT workspace_id, date_trunc('day', at, 'UTC') AS day, sum(amount_nano) AS nano FROM ledger_line GROUP BY 1, 2
      ) AS lines USING (workspace_id, day)
      WHERE coalesce(d.amount_nano, 0) <> coalesce(lines.nano, 0)`,
  },
];
