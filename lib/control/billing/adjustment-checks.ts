import { type Check, priced } from '#lib/control/billing/job-checks';
import { kept } from '#lib/control/billing/kept';

/** The call or job that an adjustment is of, as it was charged before. */
const charged = `
  SELECT c.id, c.workspace_id, c.key_id, coalesce(j.cost_nano, c.cost_nano) AS cost_nano,
    coalesce(j.hold_nano, c.hold_nano) AS hold_nano, coalesce(j.over_hold_nano, c.over_hold_nano) AS over_hold_nano,
    coalesce(j.usage_source, c.usage_source) AS usage_source,
    CASE WHEN j.lost_at IS NOT NULL AND j.cost_nano <> 0 THEN c.id || ':retrieved' ELSE c.id::text END AS ref
  FROM call c LEFT JOIN job j ON j.call_id = c.id`;

/** The money of estimated calls whose usage was corrected later by stored responses (contract: money/late-usage). */
export const adjustmentChecks: readonly Check[] = [
  {
    name: 'each adjustment that moved money has one ledger line of that amount, workspace and key',
    sql: `SELECT a.call_id AS call, a.amount_nano::text AS amount, (-l.amount_nano)::text AS posted
      FROM adjustment a LEFT JOIN (${charged}) AS c ON c.id = a.call_id
      LEFT JOIN ledger_line l ON l.kind = 'adjustment' AND l.ref = coalesce(c.ref, a.call_id::text)
      WHERE a.amount_nano <> 0 AND (l.id IS NULL OR l.amount_nano <> -a.amount_nano
        OR l.workspace_id <> a.workspace_id OR l.key_id IS DISTINCT FROM coalesce(c.key_id, l.key_id))`,
  },
  {
    name: 'each ledger line that adjusts a call has its adjustment, or its job that was given up',
    sql: `SELECT l.ref AS call, l.amount_nano::text AS amount
      FROM ledger_line l LEFT JOIN adjustment a ON a.call_id::text = split_part(l.ref, ':', 1)
      LEFT JOIN job j ON j.call_id::text = l.ref AND j.lost_at IS NOT NULL AND j.cost_nano <> 0
      JOIN ${kept} AS kept ON kept.workspace_id = l.workspace_id
      WHERE l.kind = 'adjustment' AND l.key_id IS NOT NULL AND l.ref >= kept.first_id::text
        AND j.call_id IS NULL AND (a.call_id IS NULL OR a.amount_nano = 0)`,
  },
  {
    name: 'an adjusted call costs in all what its lines add up to, or its hold if that is less',
    sql: `SELECT a.call_id AS call, a.cost_nano::text AS cost, priced.cost::text AS lines
      FROM adjustment a JOIN (${charged}) AS c ON c.id = a.call_id
      CROSS JOIN LATERAL (${priced('a.lines')}) AS priced
      WHERE a.settled_at IS NOT NULL AND (a.amount_nano <> a.cost_nano - c.cost_nano
        OR c.usage_source = 'reported' OR a.workspace_id <> c.workspace_id
        OR a.over_hold_nano <> greatest(0, a.cost_nano - c.hold_nano) - c.over_hold_nano
        OR (a.cost_nano <> priced.cost AND NOT (a.cost_nano = c.hold_nano AND a.cost_nano < priced.cost)))`,
  },
  {
    name: 'an adjustment moves money only when it is settled, and never above the hold of a strict workspace',
    sql: `SELECT a.call_id AS call, a.amount_nano::text AS amount, a.cost_nano::text AS cost
      FROM adjustment a JOIN (${charged}) AS c ON c.id = a.call_id JOIN workspace w ON w.id = a.workspace_id
      WHERE (a.settled_at IS NULL AND a.amount_nano <> 0)
        OR (w.strict AND a.cost_nano > c.hold_nano AND NOT EXISTS (
          SELECT 1 FROM audit d WHERE d.workspace_id = w.id AND d.action = 'workspace.set' AND d.at >= a.seen_at))`,
  },
];
