import { Redis } from 'ioredis';
import { Client } from 'pg';
import { startPostgres } from '#tests/support/database';
import { startRedis } from '#tests/support/redis/server';
import { allProcessorMs, parentOf } from '../processes.ts';
import { purposeOf } from './purposes.ts';

/** What statements of one purpose took since the last `reset`. */
export interface Purpose {
  statements: number;
  /** Rows that they returned or wrote. */
  rows: number;
  walBytes: number;
  /** Planning and execution, ms. */
  ms: number;
}

/** Figures that only grow, of both stores. */
export interface StoreCount {
  readonly postgresMs: number;
  readonly transactions: number;
  readonly rowsWritten: number;
  readonly rowsRead: number;
  readonly walBytes: number;
  readonly redisMs: number;
  /** Scripts that Redis ran: one for each permit request. */
  readonly permitRequests: number;
  /** With those inside of scripts. */
  readonly redisCommands: number;
  readonly redisBytes: number;
}

export interface Servers {
  readonly url: string;
  readonly redisUrl: string;
  /** Watches a database. */
  watch(databaseUrl: string): Promise<Watched>;
  stop(): Promise<void>;
}

interface Watched {
  count(): Promise<StoreCount>;
  /** Connections to this database. */
  connections(): Promise<number>;
  /** How many statements wait for a lock now. */
  waiting(): Promise<number>;
  reset(): Promise<void>;
  purposes(): Promise<Map<string, Purpose>>;
  close(): Promise<void>;
}

/** A PostgreSQL and a Redis of the bench's own, on this machine. */
export async function startServers(): Promise<Servers> {
  const [postgres, redis] = await Promise.all([startPostgres('--fleet'), startRedis()]);
  const commands = new Redis(redis.url);
  return {
    url: postgres.url,
    redisUrl: redis.url,
    watch: (databaseUrl) => watch(databaseUrl, commands),
    stop: async () => {
      commands.disconnect();
      await Promise.all([redis.close(), postgres.stop()]);
    },
  };
}

const otherConnections =
  'FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';

async function watch(databaseUrl: string, redis: Redis): Promise<Watched> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  const ask = async (text: string) => (await client.query<Record<string, string>>(text)).rows;
  const [own] = await ask('SELECT pg_backend_pid() AS pid');
  const server = parentOf(Number(own?.pid));
  const number = async (text: string) => Number((await ask(text))[0]?.found ?? 0);
  return {
    count: async () => {
      const [row] = await ask(
        `SELECT xact_commit + xact_rollback AS transactions, tup_inserted + tup_updated + tup_deleted AS written,
           tup_returned AS read, pg_current_wal_insert_lsn() - '0/0' AS wal
         FROM pg_stat_database WHERE datname = current_database()`,
      );
      const about = `${await redis.info()}${await redis.info('commandstats')}`;
      const told = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(about)?.[1] ?? 0);
      return {
        postgresMs: allProcessorMs(server),
        transactions: Number(row?.transactions),
        rowsWritten: Number(row?.written),
        rowsRead: Number(row?.read),
        walBytes: Number(row?.wal),
        redisMs: (told('used_cpu_user') + told('used_cpu_sys')) * 1000,
        permitRequests: Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(about)?.[1] ?? 0),
        redisCommands: told('total_commands_processed'),
        redisBytes: told('total_net_input_bytes') + told('total_net_output_bytes'),
      };
    },
    connections: () => number(`SELECT count(*) AS found ${otherConnections}`),
    waiting: () => number(`SELECT count(*) AS found ${otherConnections} AND wait_event_type = 'Lock'`),
    reset: async () => {
      await ask('SELECT pg_stat_statements_reset()');
    },
    purposes: async () => {
      const found = new Map<string, Purpose>();
      for (const row of await ask(
        `SELECT query, calls, rows, wal_bytes, total_exec_time + total_plan_time AS ms FROM pg_stat_statements
         WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      )) {
        const purpose = purposeOf(row.query ?? '');
        const sum = found.get(purpose) ?? { statements: 0, rows: 0, walBytes: 0, ms: 0 };
        sum.statements += Number(row.calls);
        sum.rows += Number(row.rows);
        sum.walBytes += Number(row.wal_bytes);
        sum.ms += Number(row.ms);
        found.set(purpose, sum);
      }
      return found;
    },
    close: () => client.end(),
  };
}
