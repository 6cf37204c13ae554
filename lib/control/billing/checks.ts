import { adjustmentChecks } from '#lib/control/billing/adjustment-checks';
import { type Check, jobChecks, ownKeyChecks, priced } from '#lib/control/billing/job-checks';
import { kept, timeOf } from '#lib/control/billing/kept';
import { paymentChecks } from '#lib/control/billing/payment-checks';
import { promoChecks } from '#lib/control/billing/promo-checks';
import { quarterChecks } from '#lib/control/billing/quarter-checks';
import { simulatedChecks } from '#lib/control/billing/simulated-checks';
import { usageChecks } from '#lib/control/billing/usage-checks';

/** All invariants of money and logs that can be checked in the database. */
export const checks: readonly Check[] = [
  ...usageChecks,
  ...jobChecks,
  ...ownKeyChecks,
  ...adjustmentChecks,
  ...quarterChecks,
  ...paymentChecks,
  ...promoChecks,
  ...simulatedChecks,
  {
    name: 'the balance of each workspace is the sum of its ledger',
    sql: `SELECT w.id AS workspace, w.balance_nano::text AS balance, coalesce(sum(l.amount_nano), 0)::text AS ledger
      FROM workspace w LEFT JOIN ledger_line l ON l.workspace_id = w.id
      GROUP BY w.id HAVING w.balance_nano <> coalesce(sum(l.amount_nano), 0)`,
  },
  {
    name: 'a key whose spend reached its quota has the flag, unless it was changed by hand',
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
      LEFT JOIN ${kept} AS kept ON kept.workspace_id = k.workspace_id
      WHERE said.spent_nano IS DISTINCT FROM done.spent_nano
        AND (kept.since IS NULL OR minute > kept.since)
        AND (deleted.id IS NULL OR minute > ${timeOf('deleted.id')} + interval '1 hour')`,
  },
  {
    name: 'each charge is the sum of its lines rounded up once, or its hold if that is less',
    sql: `SELECT c.id AS call, c.cost_nano::text AS cost, priced.cost::text AS lines
      FROM call c CROSS JOIN LATERAL (${priced('c.lines')}) AS priced
      WHERE c.cost_nano <> priced.cost AND NOT (c.cost_nano = c.hold_nano AND c.cost_nano < priced.cost)`,
  },
  {
    name: 'the amount by which a charge exceeds its hold is recorded, and refused calls are not charged',
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
