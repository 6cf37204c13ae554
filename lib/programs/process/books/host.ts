import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { openDb } from '#lib/platform/data/db';
import { envSecret, findHostEnv } from '#lib/platform/env/env';
import { assemble } from '#lib/programs/process/assemble';
import { openDatabaseBooks } from '#lib/programs/process/books/database-books';
import { meetSecrets } from '#lib/programs/process/secrets';

/**
 * The gateway on a host that runs only Next, which may be frozen between two calls and has no persistent
 * disk: its books are in the database, whatever SETTLEMENT says. The operator runs the migrations (`npm run
 * migrate`).
 * @returns null without DATABASE_URL or KEY_PEPPER (contract: authentication/resolver).
 * @throws Error of the database, and OperatorError for its secrets; the next call tries again.
 */
export async function startHost(): Promise<Runtime | null> {
  const env = findHostEnv();
  if (!env?.databaseUrl) return null;
  const log = pino({ level: env.logLevel, base: null }, pino.destination(2));
  const db = openDb(env.databaseUrl, {
    onError: (error) => log.warn({ reason: error.message }, 'a database connection was lost'),
  });
  // Uploads are stored there while their calls run.
  const dataDir = join(tmpdir(), 'model-gateway');
  try {
    await meetSecrets(db, env, log);
    const ground = { db, upstreams: { envSecret }, worker: null, openBooks: openDatabaseBooks };
    const host = { ...env, settlement: 'database' as const, dataDir };
    const running = await assemble(host, ground, log);
    return running.runtime;
  } catch (error) {
    await db.close();
    throw error;
  }
}
