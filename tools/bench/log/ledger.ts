import type { Pool } from 'pg';

/** What settlement would have posted for the drawn calls, after a top-up that pays for them. */
const statements = [
  `INSERT INTO ledger_line (id, workspace_id, at, amount_nano, kind, ref)
   SELECT gen_random_uuid(), w.id, c.from_at - interval '1 hour', 1000000 * 1000000000::bigint, 'top_up', 'bench:' || w.id
   FROM workspace w, (SELECT min(at) AS from_at FROM call) AS c`,
  `INSERT INTO ledger_line (id, workspace_id, at, amount_nano, calls, kind, ref)
   SELECT gen_random_uuid(), workspace_id, quarter, -spent, calls, 'usage', to_char(quarter AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
   FROM (SELECT workspace_id, ledger_quarter(settled_at) AS quarter, sum(cost_nano)::bigint AS spent, count(*)::int AS calls
     FROM call WHERE cost_nano <> 0 GROUP BY 1, 2) AS posted ORDER BY quarter, workspace_id`,
  `UPDATE workspace w SET balance_nano = (SELECT sum(amount_nano) FROM ledger_line l WHERE l.workspace_id = w.id)`,
  `UPDATE api_key k SET spent_nano = c.spent, last_used_at = c.used
   FROM (SELECT key_id, sum(cost_nano)::bigint AS spent, max(at) AS used FROM call GROUP BY 1) AS c WHERE c.key_id = k.id`,
  `INSERT INTO spend_minute (key_id, minute, spent_nano)
   SELECT key_id, date_trunc('minute', at), sum(cost_nano)::bigint FROM call
   WHERE cost_nano <> 0 AND at > now() - interval '32 days' GROUP BY 1, 2`,
];

/** Fills the ledger, balances and spend from the calls. */
export async function fillLedger(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    // The trigger refuses lines of the past.
    await client.query('BEGIN; ALTER TABLE ledger_line DISABLE TRIGGER ledger_line_usage_in_time');
    for (const statement of statements) await client.query(statement);
    await client.query('ALTER TABLE ledger_line ENABLE TRIGGER ledger_line_usage_in_time; COMMIT');
    await client.query('ANALYZE ledger_line; ANALYZE spend_minute');
  } finally {
    client.release();
  }
}
