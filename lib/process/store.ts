import type { Logger } from 'pino';
import { type Db, openDb } from '#lib/data/db';
import { openEmbedded } from '#lib/data/embedded';
import { holdDirectory } from '#lib/data/hold-directory';
import { migrate } from '#lib/data/migrate';
import type { Env } from '#lib/env';

export interface Store {
  readonly db: Db;
  readonly embedded: boolean;
  close(): Promise<void>;
}

/** Codes of a server that cannot be reached, of one that is starting or full, and of a refused login. */
const away = /^(E(?!RR_)[A-Z_]+|3D000|28[0-9A-Z]{3}|57P0\d|53300)$/;

/** The server of DATABASE_URL does not let this process in. */
export class DatabaseAway extends Error {
  constructor(url: string, cause: Error) {
    const { host, pathname } = new URL(url);
    super(
      `The database ${pathname.slice(1)} at ${host} cannot be used (${cause.message}): start it, or correct DATABASE_URL.`,
    );
    this.name = 'DatabaseAway';
  }
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
    throw env.databaseUrl !== null && isAway(error) ? new DatabaseAway(env.databaseUrl, error) : error;
  });
  if (applied.length > 0) log.info({ applied }, 'migrated');
  const db = openDb(url, {
    onError: (error) => log.warn({ reason: error.message }, 'a database connection was lost'),
  });
  return {
    db,
    embedded: embedded !== null,
    close: async () => {
      await db.close();
      await embedded?.close();
      letGo();
    },
  };
}

function isAway(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && away.test(String(error.code));
}
