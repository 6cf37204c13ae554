import type { PoolClient } from 'pg';
import type { SqlRunner } from '#lib/platform/data/change';

/** The database inside of a transaction. */
export interface PaymentStore extends SqlRunner {
  rows<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
}

export function storeIn(client: PoolClient): PaymentStore {
  return {
    query: (text, values) => client.query(text, values),
    rows: async (text, values) => (await client.query(text, [...values])).rows,
  };
}
