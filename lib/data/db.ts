import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import { PrismaClient } from '#generated/client';

/** One pool per process, shared by Prisma and by the set-based statements of the cold shell. */
export interface Db {
  readonly pool: Pool;
  readonly prisma: PrismaClient;
  close(): Promise<void>;
}

/**
 * Opens the database; connects lazily.
 * @param url PostgreSQL address; the embedded database has one too (a Unix socket).
 * @param options `max` connections, default 10.
 */
export function openDb(url: string, options: { max?: number; onError?: (error: Error) => void } = {}): Db {
  const pool = new Pool({
    connectionString: url,
    max: options.max ?? 10,
    // A pool without a time limit waits for ever when the server is away.
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    application_name: 'model-gateway',
  });
  pool.on('error', (error) => options.onError?.(error));
  // The pool listens to idle connections alone: one that broke inside a transaction would end the process.
  pool.on('connect', (client) => client.on('error', deaf));
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  return {
    pool,
    prisma,
    close: async () => {
      await prisma.$disconnect();
      if (!pool.ended) await pool.end();
    },
  };
}

/** Whoever has the connection is told by its next statement. */
function deaf(): void {}
