import type { Check } from '#lib/control/billing/job-checks';
import { simulatedProvider } from '#lib/core/simulated';

/** What the simulated provider answered: calls and jobs that make up usage lines. */
const answered = `
  SELECT workspace_id, settled_at, cost_nano FROM call WHERE cost_nano <> 0 AND provider = '${simulatedProvider}'
  UNION ALL
  SELECT workspace_id, settled_at, cost_nano FROM job
  WHERE cost_nano <> 0 AND settled_at IS NOT NULL AND lost_at IS NULL AND provider_id = '${simulatedProvider}'`;

/** Simulated money against the ledger (contract: money/simulated-money). */
export const simulatedChecks: readonly Check[] = [
  {
    name: 'the simulated money of each workspace is the sum of its parts of the ledger, and not below zero',
    sql: `SELECT w.id AS workspace, w.simulated_nano::text AS simulated, coalesce(sum(l.simulated_nano), 0)::text AS ledger
      FROM workspace w LEFT JOIN ledger_line l ON l.workspace_id = w.id
      GROUP BY w.id HAVING w.simulated_nano <> coalesce(sum(l.simulated_nano), 0) OR w.simulated_nano < 0`,
  },
  {
    name: 'the simulated part of a line is within its amount, and no payment of real money has one',
    sql: `SELECT l.id AS line, l.kind, l.amount_nano::text AS amount, l.simulated_nano::text AS simulated
      FROM ledger_line l LEFT JOIN top_up t ON l.kind IN ('top_up', 'refund') AND t.workspace_id = l.workspace_id
        AND t.payment_intent = split_part(l.ref, ':', 1)
      WHERE l.simulated_nano <> 0 AND l.ref NOT LIKE 'simulated:%'
        AND (l.simulated_nano NOT BETWEEN least(l.amount_nano, 0) AND greatest(l.amount_nano, 0)
          OR l.kind IN ('promo', 'expiry') OR (l.kind = 'adjustment' AND l.key_id IS NULL) OR t.livemode)`,
  },
  {
    name: 'simulated money pays at most for what the simulated provider answered in each quarter of an hour',
    sql: `SELECT l.workspace_id AS workspace, l.at AS quarter, (-l.simulated_nano)::text AS paid, done.nano::text AS answered
      FROM ledger_line l LEFT JOIN (
        SELECT workspace_id, quarter, sum(nano) AS nano FROM (
          SELECT workspace_id, ledger_quarter(settled_at) AS quarter, sum(cost_nano) AS nano
          FROM (${answered}) AS receipt GROUP BY 1, 2
          UNION ALL SELECT workspace_id, quarter, spent_nano FROM open_quarter
        ) AS part GROUP BY 1, 2
      ) AS done ON done.workspace_id = l.workspace_id AND done.quarter = l.at
      WHERE l.kind = 'usage' AND l.simulated_nano < 0 AND -l.simulated_nano > coalesce(done.nano, 0)
        AND (done.nano IS NOT NULL OR NOT EXISTS (SELECT FROM ledger_check c WHERE c.workspace_id = l.workspace_id
          AND l.at BETWEEN ledger_quarter(c.from_at) AND c.to_at))`,
  },
  {
    name: 'simulated money moves with an adjustment only if the simulated provider answered its call',
    sql: `SELECT l.id AS line, l.ref AS call, l.simulated_nano::text AS simulated
      FROM ledger_line l LEFT JOIN call c ON c.id::text = split_part(l.ref, ':', 1)
      LEFT JOIN job j ON j.call_id::text = split_part(l.ref, ':', 1)
      WHERE l.kind = 'adjustment' AND l.key_id IS NOT NULL AND l.simulated_nano <> 0
        AND coalesce(j.provider_id, c.provider) <> '${simulatedProvider}'`,
  },
];
