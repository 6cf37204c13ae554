import { setTimeout as pause } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { isRefusedData } from '#lib/data/database-errors';

/** Longer than any transaction of a job takes; beyond it the connection counts as lost. */
const limitMs = 20_000;
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
      return await transaction(pool, work);
    } catch (error) {
      const pauseMs = pausesMs[tries];
      if (pauseMs === undefined || isRefusedData(error)) throw error;
      await pause(pauseMs);
    }
  }
}

async function transaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let lost = false;
  // A server that went away without a word answers nothing: only closing the connection ends the wait.
  const watch = setTimeout(() => {
    lost = true;
    client.release(true);
  }, limitMs);
  try {
    await client.query(`BEGIN; SET LOCAL statement_timeout = ${limitMs}; SET LOCAL lock_timeout = '5s'`);
    const result = await work(client);
    await client.query('COMMIT');
    if (!lost) client.release();
    return result;
  } catch (error) {
    // Closing the connection ends its transaction, whatever state it is in.
    if (!lost) client.release(true);
    throw error;
  } finally {
    clearTimeout(watch);
  }
}
