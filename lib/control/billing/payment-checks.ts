import type { Check } from '#lib/control/billing/job-checks';

/** Orders by card against the ledger (contract: money/payment-events). */
export const paymentChecks: readonly Check[] = [
  {
    name: 'each paid top-up is in the ledger once, with its own amount',
    sql: `SELECT t.id AS top_up, t.cents, l.amount_nano::text AS ledger
      FROM top_up t LEFT JOIN ledger_line l
        ON l.kind = 'top_up' AND l.ref = t.payment_intent AND l.workspace_id = t.workspace_id
      WHERE (t.status IN ('paid', 'refunded')) <> (l.id IS NOT NULL)
        OR l.amount_nano <> t.cents::bigint * 10000000`,
  },
  {
    name: 'each top-up in the ledger belongs to an order',
    sql: `SELECT l.id AS line, l.ref FROM ledger_line l
      WHERE l.kind = 'top_up' AND l.ref LIKE 'pi\\_%' AND NOT EXISTS (SELECT 1 FROM top_up t WHERE t.payment_intent = l.ref)`,
  },
  {
    name: 'refunds in the ledger are the share of each credit that went back',
    sql: `SELECT t.id AS top_up, t.refunded_cents, coalesce(sum(l.amount_nano), 0)::text AS ledger
      FROM top_up t LEFT JOIN ledger_line l ON l.kind = 'refund' AND l.ref LIKE t.payment_intent || ':%'
      WHERE t.payment_intent IS NOT NULL
      GROUP BY t.id, t.refunded_cents, t.cents, t.fee_cents
      HAVING coalesce(sum(l.amount_nano), 0) <> -CASE WHEN t.refunded_cents >= t.cents + t.fee_cents
        THEN t.cents::bigint * 10000000
        -- Of 10,000 dollars the product is beyond a bigint.
        ELSE div(t.cents::numeric * 10000000 * t.refunded_cents + t.cents + t.fee_cents - 1,
          t.cents + t.fee_cents) END`,
  },
  {
    name: 'a top-up is refunded exactly when all of it went back',
    sql: `SELECT id AS top_up, status, refunded_cents FROM top_up
      WHERE (status = 'refunded') <> (refunded_cents >= cents + fee_cents)`,
  },
];
