import { type Db, openDb } from '#lib/platform/data/db';
import { openEmbedded } from '#lib/platform/data/embedded';
import { createDatabase } from '#tests/support/database';
import { embeddedDirectory } from '#tests/support/shared/embedded';

export interface Stage {
  readonly db: Db;
  close(): Promise<void>;
}

export async function onPostgres(): Promise<Stage> {
  const database = await createDatabase();
  const db = openDb(database.url);
  return {
    db,
    close: async () => {
      await db.close();
      await database.drop();
    },
  };
}

async function onEmbedded(): Promise<Stage> {
  const embedded = await openEmbedded(await embeddedDirectory('migrated'), 'server');
  const db = openDb(embedded.url);
  return {
    db,
    close: async () => {
      await db.close();
      await embedded.close();
    },
  };
}

/** For `describe.each`: what must hold on PostgreSQL and on the embedded database alike. */
export const bothDatabases = [
  { name: 'PostgreSQL', open: onPostgres },
  { name: 'the embedded database', open: onEmbedded },
];
