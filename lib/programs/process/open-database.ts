import type { Logger } from 'pino';
import { awayOr } from '#lib/platform/data/database-errors';
import { type Db, openDb } from '#lib/platform/data/db';
import { type Embedded, openEmbedded } from '#lib/platform/data/embedded';
import { holdDirectory } from '#lib/platform/data/hold-directory';
import { migrate } from '#lib/platform/data/migrate';
import type { Env } from '#lib/platform/env/env';

/** The connections of a process to its database. */
export interface Connections {
  /** For calls: look-ups, leases, settlement, jobs. */
  readonly db: Db;
  /** For operations and pages: separate connections, so that slow ones do not hold up calls. */
  readonly operationsDb: Db;
}

/**
 * The database of this process, migrated: the embedded one unless DATABASE_URL names another. In both cases no other
 * process may use DATA_DIR.
 * @param ready resolves once the rest of the start cannot be refused: the database is not changed before.
 * @throws DataDirInUse, or another OperatorError.
 */
export async function openStore(env: Env, log: Logger, ready: () => Promise<void>) {
  const opened = env.databaseUrl === null ? await openEmbedded(env.dataDir, 'server') : null;
  const letGo = opened ? () => {} : await holdDirectory(env.dataDir);
  const url = opened?.url ?? env.databaseUrl ?? '';
  const applied = await ready()
    .then(() => migrate(url))
    .catch((error: unknown) => {
      letGo();
      throw env.databaseUrl === null ? error : awayOr(error, env.databaseUrl);
    });
  if (applied.length > 0) log.info({ applied }, 'migrated');
  const embedded = opened && applied.length > 0 ? await openAgain(opened, env.dataDir) : opened;
  const { db, operationsDb } = connect(url, log);
  return {
    db,
    operationsDb,
    embedded: embedded !== null,
    /** Its address, embedded or not. */
    url,
    close: async () => {
      await operationsDb.close();
      await db.close();
      await embedded?.close();
      letGo();
    },
  };
}

/** The engine never gives back the memory that migrating took, which would be a quarter of its memory from then on. */
async function openAgain(embedded: Embedded, dataDir: string): Promise<Embedded> {
  await embedded.close();
  return openEmbedded(dataDir, 'server');
}

/** Connects lazily. @param url PostgreSQL address. */
export function connect(url: string, log: Logger): Connections {
  const onError = (error: Error) => log.warn({ reason: error.message }, 'a database connection was lost');
  return { db: openDb(url, { onError }), operationsDb: openDb(url, { onError, patient: true }) };
}
