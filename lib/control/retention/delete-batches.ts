import type { Pool } from 'pg';
import { transact } from '#lib/platform/data/transaction/transaction';

/** Rows of one transaction, and its time limits. */
export const batch = 5_000;
export const limits = { lockMs: 1_000, statementMs: 30_000 };

/**
 * Deletes rows a few thousand at a time, each batch in a transaction of its own, so that what was deleted stays deleted
 * when the process is killed, and nobody waits for long.
 * @param condition in SQL, with `values`; names of ours, never taken from outside.
 * @param stopped asked between two batches.
 */
export async function deleteInBatches(
  pool: Pool,
  { table, condition, values }: { table: string; condition: string; values: readonly unknown[] },
  stopped: () => boolean,
): Promise<void> {
  const statement = `DELETE FROM "${table}" WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM "${table}" WHERE ${condition} LIMIT ${batch}))`;
  while (!stopped()) {
    const { rowCount } = await transact(pool, limits, (client) => client.query(statement, [...values]));
    if ((rowCount ?? 0) < batch) return;
  }
}
