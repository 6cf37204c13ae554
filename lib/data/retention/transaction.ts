import type { Pool, PoolClient } from 'pg';

interface Limits {
  /** The longest wait for a lock, ms. */
  readonly lockMs: number;
  /** The longest statement, ms. */
  readonly statementMs: number;
}

/** One transaction with time limits of its own. @throws Error of `work` or the database; nothing was changed then. */
export async function within<R>(
  pool: Pool,
  { lockMs, statementMs }: Limits,
  work: (client: PoolClient) => Promise<R>,
): Promise<R> {
  const client = await pool.connect();
  try {
    await client.query(
      `BEGIN; SET LOCAL lock_timeout = ${lockMs}; SET LOCAL statement_timeout = ${statementMs}`,
    );
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // Its locks are gone when the caller learns of the error; a connection that cannot roll back is closed.
    await client.query('ROLLBACK').then(
      () => client.release(),
      () => client.release(true),
    );
    throw error;
  }
}
