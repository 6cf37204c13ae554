import { setTimeout as pause } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { isRefusedData } from '#lib/platform/data/database-errors';
import { transact } from '#lib/platform/data/transaction/transaction';

const limits = { lockMs: 5_000, statementMs: 20_000, wholeMs: 20_000 };
const pausesMs = [50, 250, 1_000];

/**
 * Runs a transaction that may be repeated as it is: whatever went wrong (a deadlock, a lost connection,
 * a COMMIT whose answer was lost), it is tried again up to three times.
 * @throws the last error of the database.
 */
export async function repeatable<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await transact(pool, limits, work);
    } catch (error) {
      const pauseMs = pausesMs[tries];
      if (pauseMs === undefined || isRefusedData(error)) throw error;
      await pause(pauseMs);
    }
  }
}
