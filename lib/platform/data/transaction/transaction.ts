import type { Pool, PoolClient } from 'pg';

export interface TransactionLimits {
  /** The longest wait for a lock, ms. */
  readonly lockMs: number;
  /** The longest statement, ms. */
  readonly statementMs: number;
  /**
   * The longest transaction, ms: then its connection is closed, because a server that went away without a word
   * answers nothing. Absent: as long as its statements take.
   */
  readonly wholeMs?: number;
}

/**
 * Runs one transaction with its own time limits.
 * @throws Error of `work` or the database; nothing was changed then, or (a connection lost at COMMIT) all of it.
 */
export async function transact<R>(
  pool: Pool,
  { lockMs, statementMs, wholeMs }: TransactionLimits,
  work: (client: PoolClient) => Promise<R>,
): Promise<R> {
  const client = await pool.connect();
  let released = false;
  const release = (close: boolean) => {
    if (!released) client.release(close);
    released = true;
  };
  const late = wholeMs === undefined ? undefined : setTimeout(release, wholeMs, true);
  try {
    await client.query(
      `BEGIN; SET LOCAL lock_timeout = ${lockMs}; SET LOCAL statement_timeout = ${statementMs}`,
    );
    const result = await work(client);
    await client.query('COMMIT');
    release(false);
    return result;
  } catch (error) {
    // Its locks are gone when the caller learns of the error; a connection that cannot roll back is closed.
    await client.query('ROLLBACK').then(
      () => release(false),
      () => release(true),
    );
    throw error;
  } finally {
    clearTimeout(late);
  }
}
