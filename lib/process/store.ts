import type { Logger } from 'pino';
import { awayOr } from '#lib/data/database-errors';
import { type Db, openDb } from '#lib/data/db';
import { openEmbedded } from '#lib/data/embedded';
import { holdDirectory } from '#lib/data/hold-directory';
import { migrate } from '#lib/data/migrate';
import type { Env } from '#lib/env';

export interface Store {
  /** For calls: look-ups, leases, settlement, jobs. */
  readonly db: Db;
  /** For operations and pages: connections of their own, so that slow ones hold up no call. */
  readonly operationsDb: Db;
  readonly embedded: boolean;
  close(): Promise<void>;
}

/**
 * The database of this process, migrated: the embedded one unless DATABASE_URL names another. Either way
 * DATA_DIR is this process's alone.
 * @throws DataDirInUse naming the process that has it; DatabaseAway.
 */
export async function openStore(env: Env, log: Logger): Promise<Store> {
  const embedded = env.databaseUrl === null ? await openEmbedded(env.dataDir, 'server') : null;
  const letGo = embedded ? () => {} : await holdDirectory(env.dataDir);
  const url = embedded?.url ?? env.databaseUrl ?? '';
  const applied = await migrate(url).catch((error: unknown) => {
    letGo();
    throw env.databaseUrl === null ? error : awayOr(error, env.databaseUrl);
  });
  if (applied.length > 0) log.info({ applied }, 'migrated');
  const onError = (error: Error) => log.warn({ reason: error.message }, 'a database connection was lost');
  const db = openDb(url, { onError });
  const operationsDb = openDb(url, { onError });
  return {
    db,
    operationsDb,
    embedded: embedded !== null,
    close: async () => {
      await operationsDb.close();
      await db.close();
      await embedded?.close();
      letGo();
    },
  };
}
