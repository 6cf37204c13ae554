import { Prisma } from '#generated/client';
import type { Db } from '#lib/data/db';
import { type Query, readSnapshot } from '#lib/data/read-snapshot';

/** The database as operations see it: the same outside and inside the transaction of a mutation. */
export interface Store {
  readonly prisma: Prisma.TransactionClient;
  /** One statement in SQL. Cast amounts to text: outside and inside a transaction they differ otherwise. */
  query<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** A statement whose answer is how many rows it changed. */
  execute(text: string, values: readonly unknown[]): Promise<number>;
}

/** The database as reads see it. */
export interface ReadStore extends Store {
  /** Several statements that see one state of the database. */
  snapshot<R>(work: (query: Query) => Promise<R>): Promise<R>;
}

export function storeOf(db: Db): ReadStore {
  return {
    prisma: db.prisma,
    query: async <Row>(text: string, values: readonly unknown[]) =>
      (await db.pool.query(text, [...values])).rows as Row[],
    execute: async (text, values) => (await db.pool.query(text, [...values])).rowCount ?? 0,
    snapshot: (work) => readSnapshot(db, work),
  };
}

/** Everything that `work` does commits together, or nothing of it. At most 10 s, 5 s of waiting before. */
export function transact<R>(db: Db, work: (store: Store) => Promise<R>): Promise<R> {
  return db.prisma.$transaction((tx) => work(insideOf(tx)), {
    maxWait: 5_000,
    timeout: 10_000,
    isolationLevel: Prisma.TransactionIsolationLevel.ReadCommitted,
  });
}

function insideOf(tx: Prisma.TransactionClient): Store {
  return {
    prisma: tx,
    query: (text, values) => tx.$queryRawUnsafe(text, ...values),
    execute: (text, values) => tx.$executeRawUnsafe(text, ...values),
  };
}
