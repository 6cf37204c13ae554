import { randomUUID } from 'node:crypto';
import type { SqlRunner } from '#lib/platform/data/change';

/** What calls or jobs of one workspace cost that are settled by this transaction. */
export interface Spending {
  readonly id: string;
  /** Above 0. */
  readonly spentNano: bigint;
  /** Of it: what the simulated provider answered, which simulated money pays first (contract: money/simulated-money). */
  readonly simulatedNano: bigint;
  /** How many of them cost something. */
  readonly calls: number;
}

const lockWorkspaces = 'SELECT id FROM workspace WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE';

/**
 * The balance and the line of the quarter in one statement. A transaction that adds to a line holds its workspace's lock, which
 * the first part takes: the order of locks is that of the workspaces, whatever line a transaction adds to. The quarter
 * is that of now(), when the transaction began, as in `call.settled_at` and `job.settled_at`.
 */
const post = `
  WITH spent AS (
    SELECT r.id, r.nano, r.calls, r.line_id, least(r.simulated, w.simulated_nano) AS simulated
    FROM unnest($1::uuid[], $2::bigint[], $3::int[], $4::uuid[], $5::bigint[]) AS r (id, nano, calls, line_id, simulated)
      LEFT JOIN workspace w ON w.id = r.id
  ), taken AS (
    UPDATE workspace w SET balance_nano = w.balance_nano - spent.nano, simulated_nano = w.simulated_nano - spent.simulated
    FROM spent WHERE w.id = spent.id RETURNING w.id
  )
  INSERT INTO ledger_line AS line (id, workspace_id, kind, ref, amount_nano, simulated_nano, calls, at)
  SELECT spent.line_id, spent.id, 'usage', to_char(quarter AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
    -spent.nano, -spent.simulated, spent.calls, quarter
  FROM spent LEFT JOIN taken ON taken.id = spent.id CROSS JOIN ledger_quarter(now()) AS quarter
  ORDER BY spent.id
  ON CONFLICT (workspace_id, at) WHERE kind = 'usage' DO UPDATE SET amount_nano = line.amount_nano + excluded.amount_nano,
    simulated_nano = line.simulated_nano + excluded.simulated_nano, calls = line.calls + excluded.calls`;

/**
 * Takes what was spent from the balances, and adds it to the usage lines of the quarter of an hour in which this
 * transaction began (contract: money/postings).
 * @param tx a transaction whose receipts (`settled_at`) carry the same now().
 * @param usage each workspace once, in the order of ids.
 * @throws Error of the database: no such workspace (23503), or a quarter that ended over a minute ago (55000), after
 * which the transaction has to be repeated.
 */
export async function postUsage(tx: SqlRunner, usage: readonly Spending[]): Promise<void> {
  if (usage.length === 0) return;
  const ids = usage.map(({ id }) => id);
  // One row needs no order; what is left of simulated money is read under the lock.
  if (ids.length > 1 || usage.some(({ simulatedNano }) => simulatedNano > 0n))
    await tx.query(lockWorkspaces, [ids]);
  await tx.query(post, [
    ids,
    usage.map(({ spentNano }) => `${spentNano}`),
    usage.map(({ calls }) => calls),
    // The embedded database would open a file for each that it makes itself.
    usage.map(() => randomUUID()),
    usage.map(({ simulatedNano }) => `${simulatedNano}`),
  ]);
}
