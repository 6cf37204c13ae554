import type { Pool } from 'pg';

/** A pool of one transaction that is rolled back at the end: each fault has the database to itself. */
export async function inScratch(pool: Pool, work: (scratch: Pool) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  const quiet = {
    query: async (text: string, values?: unknown[]) =>
      /^(BEGIN|COMMIT)/.test(text) ? { rows: [], rowCount: 0 } : client.query(text, values),
    release: () => {},
  };
  try {
    await work(poolOf(quiet));
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

/** `verifyLedger` asks a pool for a client and the client for `query` and `release`, nothing else. */
function poolOf(quiet: { query: unknown; release: unknown }): Pool {
  return { connect: async () => quiet, query: quiet.query } as unknown as Pool;
}
