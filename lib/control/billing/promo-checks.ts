import type { Check } from '#lib/control/billing/job-checks';

const usageOf = (range: string) =>
  `coalesce((SELECT -sum(l.amount_nano - l.simulated_nano) FROM ledger_line l
    WHERE l.workspace_id = m.workspace_id AND l.kind = 'usage' AND ${range}), 0)`;

/** Promo credits against the ledger (contract: money/promo). */
export const promoChecks: readonly Check[] = [
  {
    name: 'each promo credit is in the ledger once, and so is what was left of it at its expiry',
    sql: `SELECT p.id AS promo, p.amount_nano::text AS amount, g.amount_nano::text AS granted,
        p.expired_nano::text AS expired, e.amount_nano::text AS posted
      FROM promo p LEFT JOIN ledger_line g ON g.kind = 'promo' AND g.ref = p.ref
      LEFT JOIN ledger_line e ON e.kind = 'expiry' AND e.ref = p.ref
      WHERE (g.amount_nano, g.workspace_id) IS DISTINCT FROM (p.amount_nano, p.workspace_id)
        OR coalesce(-e.amount_nano, 0) <> p.expired_nano OR e.workspace_id <> p.workspace_id
        OR CASE WHEN p.ended_at IS NULL THEN p.expired_nano <> 0 ELSE p.left_nano <> 0 END`,
  },
  {
    name: 'each expiry in the ledger belongs to a promo credit that has expired',
    sql: `SELECT l.id AS line, l.ref FROM ledger_line l LEFT JOIN promo p ON p.ref = l.ref
      WHERE l.kind = 'expiry' AND (p.ended_at IS NULL OR p.expires_at > l.at)`,
  },
  {
    name: 'what promo credits have paid is usage of their workspace, counted once',
    sql: `SELECT m.workspace_id AS workspace, m.used_nano::text AS counted, sum(p.amount_nano - p.left_nano - p.expired_nano)::text AS paid
      FROM promo_mark m LEFT JOIN promo p ON p.workspace_id = m.workspace_id
      GROUP BY m.workspace_id
      HAVING coalesce(sum(p.amount_nano - p.left_nano - p.expired_nano), 0) > m.used_nano
        OR m.used_nano <> ${usageOf('l.at >= m.since AND l.at < m.quarter')} + m.counted_nano - m.base_nano
        OR m.counted_nano > ${usageOf('l.at >= m.quarter')}`,
  },
  {
    name: 'no promo credit is in the balance an hour after its expiry, except for running calls',
    sql: `SELECT p.id AS promo, p.expires_at AS expired FROM promo p
      WHERE p.ended_at IS NULL AND p.expires_at < now() - interval '1 hour'
        AND NOT EXISTS (SELECT FROM hold h WHERE h.workspace_id = p.workspace_id AND h.amount_nano > 0)
        AND NOT EXISTS (SELECT FROM lease s WHERE s.kind = 'workspace' AND s.subject_id = p.workspace_id)`,
  },
  {
    name: 'the next expiry of each workspace is known',
    sql: `SELECT w.id AS workspace, w.promo_ends_at AS known, min(p.expires_at) AS next
      FROM workspace w LEFT JOIN promo p ON p.workspace_id = w.id AND p.ended_at IS NULL
      GROUP BY w.id HAVING w.promo_ends_at IS DISTINCT FROM min(p.expires_at)`,
  },
];
