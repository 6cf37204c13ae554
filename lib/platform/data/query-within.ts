import type { Pool, QueryResult, QueryResultRow } from 'pg';

/** One statement on a connection of the pool. */
export type Query = <Row extends QueryResultRow>(
  text: string,
  values?: readonly unknown[],
) => Promise<QueryResult<Row>>;

/**
 * Statements that are given up after `limitMs`, and their connection with them: one that fell silent (a
 * router forgot it, the server's machine is gone) would otherwise keep who asks waiting for a quarter of
 * an hour, until the kernel gives it up.
 */
export function queryWithin(pool: Pool, limitMs: number): Query {
  // pg takes `query_timeout` with each query, though its types have it only on the client.
  return (text, values = []) =>
    pool.query(Object.assign({ text, values: [...values] }, { query_timeout: limitMs }));
}
