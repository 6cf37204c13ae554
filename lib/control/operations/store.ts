import { Prisma } from '#generated/client';
import type { Db } from '#lib/platform/data/db';
import { type Query, readSnapshot } from '#lib/platform/data/transaction/read-snapshot';

/** The database as operations see it: the same outside and inside the transaction of a mutation. */
export interface Store {
  readonly prisma: Prisma.TransactionClient;
  /** One statement in SQL. Cast amounts to text: outside and inside a transaction they differ otherwise. */
  query<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** A statement; returns how many rows it changed. */
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

/** How long most transactions may run, ms. */
const usual = { limitMs: 10_000 };

/** Commits everything that `work` does, or nothing. */
export function transact<R>(
  db: Db,
  work: (store: Store) => Promise<R>,
  { waitMs = 0, limitMs }: { readonly waitMs?: number; readonly limitMs: number } = usual,
): Promise<R> {
  return db.prisma.$transaction((tx) => work(insideOf(tx)), {
    maxWait: Math.max(waitMs, db.waitMs),
    timeout: limitMs,
    isolationLevel: Prisma.TransactionIsolationLevel.ReadCommitted,
  });
}

/** Blocks other changes of the table until the transaction ends, but not reads. */
export async function lockTable(store: Store, table: 'provider'): Promise<void> {
  await store.execute(`LOCK TABLE "${table}" IN SHARE ROW EXCLUSIVE MODE`, []);
}

function insideOf(tx: Prisma.TransactionClient): Store {
  return {
    prisma: tx,
    query: (text, values) => tx.$queryRawUnsafe(text, ...values),
    execute: (text, values) => tx.$executeRawUnsafe(text, ...values),
  };
}
