import { announce } from '#lib/gateway/snapshot/announce';
import type { CatalogueSources } from '#lib/gateway/snapshot/catalogue';
import { awayOr } from '#lib/platform/data/database-errors';
import { type Db, openDb } from '#lib/platform/data/db';
import { openEmbedded } from '#lib/platform/data/embedded';
import { migrate } from '#lib/platform/data/migrate';
import { newRowId } from '#lib/platform/data/row-id';
import { type Env, envSecret, loadEnv } from '#lib/platform/env/env';
import { sealingKeysOf } from '#lib/platform/sealing';

/**
 * Stand-ins for what a server sets for its simulated provider: commands do not call it, but its offers count
 * as available.
 */
const simulated: ReadonlyMap<string, string> = new Map([
  ['SANDBOX_URL', 'http://127.0.0.1/v1'],
  ['SANDBOX_KEY', 'given by the server'],
]);

/** What a command works with; each part is created when it is first needed. */
export interface Context {
  /** @throws EnvError naming what is missing or wrong. */
  env(): Env;
  /** The database of the running server, or one opened for this command; migrated. */
  db(): Promise<Db>;
  /** A new UUIDv7. */
  newId(): string;
  catalogueSources(): CatalogueSources;
  /** Makes the gateway processes of this machine read what was just committed. */
  announce(): Promise<void>;
  close(): Promise<void>;
}

/** Works with or without a running server, on the same DATA_DIR or DATABASE_URL. */
export function createContext(): Context {
  let env: Env | null = null;
  let opened: Promise<{ db: Db; close(): Promise<void> }> | null = null;
  const readEnv = () => {
    env ??= loadEnv();
    return env;
  };
  return {
    env: readEnv,
    db: async () => {
      opened ??= open(readEnv());
      return (await opened).db;
    },
    newId: newRowId,
    catalogueSources: () => ({
      envSecret: (name) => envSecret(name) ?? (readEnv().sandbox ? simulated.get(name) : undefined),
      sealingKey: sealingKeysOf(readEnv()),
    }),
    announce: async () => {
      await announce(readEnv().dataDir);
    },
    close: async () => {
      const done = await opened?.catch(() => null);
      await done?.close();
    },
  };
}

async function open(env: Env): Promise<{ db: Db; close(): Promise<void> }> {
  const embedded = env.databaseUrl === null ? await openEmbedded(env.dataDir, 'command') : null;
  const url = embedded?.url ?? env.databaseUrl ?? '';
  try {
    await migrate(url);
  } catch (error) {
    await embedded?.close();
    throw env.databaseUrl === null ? error : awayOr(error, env.databaseUrl);
  }
  const db = openDb(url, { max: 4, patient: true });
  return {
    db,
    close: async () => {
      await db.close();
      await embedded?.close();
    },
  };
}
