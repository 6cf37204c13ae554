import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import { PrismaClient } from '#generated/client';

/** One pool per process, shared by Prisma and by the set-based statements of the cold shell. */
export interface Db {
  readonly pool: Pool;
  readonly prisma: PrismaClient;
  /** How long a transaction waits for its connection and its beginning, ms. */
  readonly waitMs: number;
  close(): Promise<void>;
}

export interface DbOptions {
  /** Connections at most; 10 unless given. */
  readonly max?: number;
  /** How long a transaction may wait for its next statement before the server ends it, ms; 20 s unless given. */
  readonly idleInTransactionMs?: number;
  /** Whether it waits longer while others use the single session of the embedded database. */
  readonly patient?: boolean;
  readonly onError?: (error: Error) => void;
}

/**
 * The locks of a process that was stopped, or whose connection a router forgot, would otherwise stay for as long as
 * TCP believes in it: hours (contract: durability/abandoned-transactions).
 */
const idleInTransactionMs = 20_000;

const serverWaitMs = 5_000;
/** On the embedded database each transaction keeps the others waiting until its end. */
const oneSessionWaitMs = 30_000;

/**
 * Opens the database; connects lazily.
 * @param url PostgreSQL address; the embedded database has one too (a Unix socket).
 */
export function openDb(url: string, options: DbOptions = {}): Db {
  const idleMs = options.idleInTransactionMs ?? idleInTransactionMs;
  const waitMs = options.patient && hasSocket(url) ? oneSessionWaitMs : serverWaitMs;
  const pool = new Pool({
    connectionString: url,
    max: options.max ?? 10,
    // A pool without a time limit waits for ever when the server is away.
    connectionTimeoutMillis: waitMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    application_name: 'model-gateway',
    // Not as a parameter of the connection: poolers refuse those that they do not know.
    onConnect: async (client) => {
      await client.query(`SET idle_in_transaction_session_timeout = ${idleMs}`);
    },
  });
  pool.on('error', (error) => options.onError?.(error));
  // The pool listens only to idle connections: one that broke inside a transaction would end the process.
  pool.on('connect', (client) => client.on('error', deaf));
  let prisma: PrismaClient | null = null;
  return {
    pool,
    waitMs,
    // Created on first use: it takes 50 ms of the processor, and calls do not need it.
    get prisma() {
      prisma ??= new PrismaClient({ adapter: new PrismaPg(pool) });
      return prisma;
    },
    close: async () => {
      await prisma?.$disconnect();
      if (!pool.ended) await pool.end();
    },
  };
}

/** The embedded database is reached by a socket of the machine, which its address names as its host. */
export function hasSocket(url: string): boolean {
  return /[?&]host=/.test(url);
}

/** The error is ignored here, because the next statement on the connection fails. */
function deaf(): void {}
