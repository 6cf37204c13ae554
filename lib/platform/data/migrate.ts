import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { hasSocket } from '#lib/platform/data/db';
import { OperatorError } from '#lib/platform/operator-error';

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

interface AppliedRow {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished_at: Date | null;
  readonly rolled_back_at: Date | null;
}

/** Prisma's own key, so that its command line and ours never migrate at once. */
const lockKey = 72707369;

/** On the embedded database a connection waits until the migrations of another process have ended, ms. */
const ONE_SESSION_MS = 120_000;

const table = `
  CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id" VARCHAR(36) PRIMARY KEY NOT NULL,
    "checksum" VARCHAR(64) NOT NULL,
    "finished_at" TIMESTAMPTZ,
    "migration_name" VARCHAR(255) NOT NULL,
    "logs" TEXT,
    "rolled_back_at" TIMESTAMPTZ,
    "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
    "applied_steps_count" INTEGER NOT NULL DEFAULT 0
  )`;

/**
 * Applies `prisma/migrations/*` in order, keeping Prisma's own records of them. One transaction: a failing migration
 * leaves the database as it was. Two processes take turns by an advisory lock; on the embedded database, where those do
 * nothing, transactions never overlap anyway.
 * @param directory folder of `<name>/migration.sql`.
 * @returns the names applied by this call.
 * @throws OperatorError if an applied migration was edited since or failed halfway in Prisma's hands, and for a
 * database that a newer version has migrated: this one would keep its books wrong there.
 */
export async function migrate(
  url: string,
  directory: string = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url)),
): Promise<string[]> {
  const connectionTimeoutMillis = hasSocket(url) ? ONE_SESSION_MS : 10_000;
  const client = new Client({ connectionString: url, connectionTimeoutMillis });
  // A connection that breaks between two statements fails the next one, and not the process.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [lockKey]);
    await client.query(table);
    const { rows } = await client.query<AppliedRow>(
      'SELECT migration_name, checksum, finished_at, rolled_back_at FROM "_prisma_migrations" ORDER BY started_at',
    );
    const pending = planMigrations(readMigrations(directory), rows);
    for (const migration of pending) await apply(client, migration);
    await client.query('COMMIT');
    return pending.map((migration) => migration.name);
  } finally {
    await client.end();
  }
}

async function apply(client: Client, migration: Migration): Promise<void> {
  try {
    await client.query(migration.sql);
  } catch (error) {
    throw new Error(`Migration ${migration.name} failed; nothing was changed.`, { cause: error });
  }
  await client.query(
    `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp(), 1)`,
    [randomUUID(), migration.checksum, migration.name],
  );
}

function readMigrations(directory: string): Migration[] {
  return readdirSync(directory)
    .filter((name) => existsSync(join(directory, name, 'migration.sql')))
    .sort()
    .map((name) => {
      const sql = readFileSync(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}

/** @returns those of `all` that `rows` does not record yet, in order. */
function planMigrations(all: readonly Migration[], rows: readonly AppliedRow[]): Migration[] {
  const applied = new Map(rows.filter((row) => !row.rolled_back_at).map((row) => [row.migration_name, row]));
  for (const row of applied.values()) {
    if (row.finished_at) continue;
    throw new OperatorError(
      `Migration ${row.migration_name} failed halfway. Repair it with "prisma migrate resolve".`,
    );
  }
  const newer = [...applied.keys()].find((name) => !all.some((migration) => migration.name === name));
  if (newer !== undefined) {
    throw new OperatorError(
      `A newer version of the gateway has migrated this database (${newer}). Start that version, or restore a backup from before the migration.`,
    );
  }
  return all.filter((migration) => {
    const row = applied.get(migration.name);
    if (row && row.checksum !== migration.checksum) {
      throw new OperatorError(
        `Migration ${migration.name} was edited after it was applied. Restore the file, and write the change as a new migration.`,
      );
    }
    return !row;
  });
}
