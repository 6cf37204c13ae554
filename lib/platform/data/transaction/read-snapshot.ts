import type { Db } from '#lib/platform/data/db';

/** One statement in SQL and its rows. */
export type Query = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/**
 * Reads on one snapshot of the database: no statement of `work` sees what was committed after its first one.
 * @throws Error of the database, or of `work`.
 */
export async function readSnapshot<R>(
  { pool }: Pick<Db, 'pool'>,
  work: (query: Query) => Promise<R>,
): Promise<R> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const query = async <Row>(text: string, values: readonly unknown[] = []) =>
      (await client.query(text, [...values])).rows as Row[];
    const result = await work(query);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}
