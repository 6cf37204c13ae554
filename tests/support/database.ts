import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { openDb } from '#lib/platform/data/db';
import { migrate } from '#lib/platform/data/migrate';
import { fillCatalogue } from '#tests/support/shared/fill-catalogue';

/** A PostgreSQL database of one spec file, with all migrations applied and nothing in it. */
export interface TestDatabase {
  readonly url: string;
  /** Breaks every connection that is still open. */
  drop(): Promise<void>;
}

/**
 * vitest's global setup: a real PostgreSQL server in TEST_DATABASE_URL (kept if it is already set), a
 * migrated database to copy from in TEST_DATABASE_TEMPLATE, and one that also has the catalogue in
 * TEST_DATABASE_FILLED.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL;
  const server = given ? { url: given, stop: async () => undefined } : await startPostgres();
  // Half the work of the default strategy, which writes each page to the log; servers before 15 do not know
  // it.
  if (!given) process.env.TEST_DATABASE_STRATEGY = 'STRATEGY file_copy';
  const template = `gateway_template_${randomBytes(6).toString('hex')}`;
  process.env.TEST_DATABASE_URL = server.url;
  process.env.TEST_DATABASE_TEMPLATE = template;
  await administer(server.url, `CREATE DATABASE ${template}`);
  await migrate(urlOf(server.url, template));
  const filled = `${template}_filled`;
  process.env.TEST_DATABASE_FILLED = filled;
  await administer(server.url, `CREATE DATABASE ${filled} TEMPLATE ${template}`);
  const db = openDb(urlOf(server.url, filled), { max: 1 });
  await fillCatalogue(db);
  await db.close();
  return async () => {
    for (const name of [filled, template]) {
      await administer(server.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    }
    await server.stop();
    if (given) return;
    delete process.env.TEST_DATABASE_URL;
    delete process.env.TEST_DATABASE_STRATEGY;
  };
}

/** Creates a database by copying the template: some 50 ms, compared to a second for migrating. */
export function createDatabase(): Promise<TestDatabase> {
  return copy(fromSetup('TEST_DATABASE_TEMPLATE'));
}

/** The same with the simulated provider's catalogue and the tests' own: also a copy. */
export function createFilledDatabase(): Promise<TestDatabase> {
  return copy(fromSetup('TEST_DATABASE_FILLED'));
}

/** Creates a database without tables. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return create('');
}

/**
 * Copies a database as it is now. Its connections are closed, because PostgreSQL does not copy a database in
 * use.
 */
export async function copyDatabase(url: string): Promise<TestDatabase> {
  const name = new URL(url).pathname.slice(1);
  const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`;
  await administer(fromSetup('TEST_DATABASE_URL'), cut);
  return copy(name);
}

function copy(name: string): Promise<TestDatabase> {
  return create(`TEMPLATE ${name} ${process.env.TEST_DATABASE_STRATEGY ?? ''}`);
}

async function create(source: string): Promise<TestDatabase> {
  const server = fromSetup('TEST_DATABASE_URL');
  const name = `gateway_test_${randomBytes(6).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name} ${source}`);
  return {
    url: urlOf(server, name),
    drop: () => drop(server, name),
  };
}

/**
 * Waits for connections that are just being closed, which may take seconds on a busy machine: cut off, they
 * would fail the test run, and PostgreSQL itself would wait only 5 s before it refuses to drop.
 */
async function drop(server: string, name: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    const untilMs = performance.now() + 30_000;
    while (performance.now() < untilMs) {
      const { rowCount } = await client.query('SELECT 1 FROM pg_stat_activity WHERE datname = $1', [name]);
      if (rowCount === 0) break;
      await pause(25);
    }
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  } finally {
    await client.end();
  }
}

function fromSetup(variable: string): string {
  const value = process.env[variable];
  if (value) return value;
  throw new Error('This spec belongs to a project whose globalSetup is tests/support/database.ts.');
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/**
 * A separate server.
 * @param flags `--tls`: it uses TLS with a self-signed certificate; `--fleet`: for 100 gateways, with
 * pg_stat_statements.
 */
export async function startPostgres(
  ...flags: readonly ('--tls' | '--fleet')[]
): Promise<{ url: string; stop(): Promise<void> }> {
  const program = fileURLToPath(new URL('./postgres/keeper.ts', import.meta.url));
  const keeper = spawn(process.execPath, [program, ...flags], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(keeper, 'exit');
  const first = await Promise.race([once(keeper.stdout, 'data'), exited.then(() => null)]);
  if (!first) throw new Error('PostgreSQL for the tests did not start: the lines above say why.');
  return {
    url: String(first[0]).trim(),
    stop: async () => {
      keeper.stdin.end();
      await exited;
    },
  };
}
