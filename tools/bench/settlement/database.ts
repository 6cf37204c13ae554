import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import { makePartitions } from '#lib/control/retention/partitions';
import { openEmbedded } from '#lib/platform/data/embedded';
import { findHolder } from '#lib/platform/data/embedded-directory';
import { migrate } from '#lib/platform/data/migrate';
import { processorMs } from '../processes.ts';

export const kinds = ['postgres', 'embedded'] as const;
export type Kind = (typeof kinds)[number];

/** A migrated database with a single connection. */
export interface Subject {
  readonly pool: Pool;
  /** Processor time of the process that serves the connection, µs. */
  spentUs(): number;
  drop(): Promise<void>;
}

/** @param server a PostgreSQL server on this machine where databases may be created; not for the embedded one. */
export async function makeSubject(kind: Kind, server: string): Promise<Subject> {
  const { url, pid, drop } = await (kind === 'postgres' ? onServer(server) : embedded());
  await migrate(url);
  const pool = new Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0 });
  await makePartitions(pool, Date.now());
  const found = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const serving = pid ?? found.rows[0]?.pid ?? 0;
  return {
    pool,
    spentUs: () => processorMs(serving) * 1000,
    drop: async () => {
      await pool.end();
      await drop();
    },
  };
}

async function onServer(server: string) {
  const name = `settlement_${randomBytes(6).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const drop = () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  return { url: url.href, pid: null, drop };
}

async function embedded() {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-settlement-'));
  const database = await openEmbedded(directory, 'server');
  const drop = async () => {
    await database.close();
    rmSync(directory, { recursive: true });
  };
  return { url: database.url, pid: findHolder(directory)?.childPid ?? 0, drop };
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
