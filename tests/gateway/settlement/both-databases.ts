import { type Db, openDb } from '#lib/data/db';
import { openEmbedded } from '#lib/data/embedded';
import { migrate } from '#lib/data/migrate';
import { createDatabase } from '#tests/support/database';
import { newDirectory } from '#tests/support/settlement';

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
  const embedded = await openEmbedded(newDirectory(), 'server');
  await migrate(embedded.url);
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
