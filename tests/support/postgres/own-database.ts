import { afterAll } from 'vitest';
import { type Db, openDb } from '#lib/platform/data/db';
import { createDatabase } from '#tests/support/database';

/**
 * The spec file's own database, with all migrations applied; it is dropped when the file's tests have ended.
 */
export async function openOwnDatabase(): Promise<Db> {
  const database = await createDatabase();
  const db = openDb(database.url);
  afterAll(async () => {
    await db.close();
    await database.drop();
  });
  return db;
}
