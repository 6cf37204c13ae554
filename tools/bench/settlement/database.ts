import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import type { Version } from './version.ts';

export const kinds = ['postgres', 'embedded'] as const;
export type Kind = (typeof kinds)[number];

/** A migrated database of one version with a single connection. */
export interface Subject {
  readonly version: Version;
  readonly pool: Pool;
  /** Processor time of the process that serves the connection, µs. */
  spentUs(): number;
  drop(): Promise<void>;
}

/** @param server a PostgreSQL server on this machine where databases may be made; the embedded one needs none. */
export async function makeSubject(version: Version, kind: Kind, server: string): Promise<Subject> {
  const { url, pid, drop } = await (kind === 'postgres' ? onServer(server) : embedded(version));
  await version.migrate(url);
  const pool = new Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0 });
  await version.makePartitions(pool, Date.now());
  const found = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const serving = pid ?? found.rows[0]?.pid ?? 0;
  return {
    version,
    pool,
    spentUs: () => spentUs(serving),
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

async function embedded(version: Version) {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-settlement-'));
  const database = await version.openEmbedded(directory, 'server');
  const drop = async () => {
    await database.close();
    rmSync(directory, { recursive: true });
  };
  return { url: database.url, pid: version.findHolder(directory)?.childPid ?? 0, drop };
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

/** User and system time of a process; Linux counts both in hundredths of a second. */
function spentUs(pid: number): number {
  const [, line = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = line.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
