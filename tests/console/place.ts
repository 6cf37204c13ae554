import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDb } from '#lib/platform/data/db';
import { embeddedUrl } from '#lib/platform/data/embedded-directory';
import { seedFirstRun } from '#prisma/seed';
import startDatabases, { createDatabase } from '#tests/support/database';
import { secrets } from '#tests/support/shared/attach';
import { embeddedDirectory } from '#tests/support/shared/embedded';

/** The files, the database and the sign-in of a console for tests. */
export interface Place {
  readonly dataDir: string;
  readonly databaseUrl: string;
  /** The gateway's environment, so that it uses this place. */
  readonly env: Readonly<Record<string, string>>;
  /** null: the first start creates the user and prints the sign-in. */
  readonly signIn: SignIn | null;
  remove(): Promise<void>;
}

export interface SignIn {
  readonly email: string;
  readonly password: string;
}

/**
 * The database that CONSOLE_DATABASE names: `embedded`, as on a first `npm start`, or `server` (the default),
 * a PostgreSQL server's with what that first start would have created, and with open sign-up.
 */
export function makePlace(): Promise<Place> {
  return process.env.CONSOLE_DATABASE === 'embedded' ? onEmbedded() : onServer();
}

async function onEmbedded(): Promise<Place> {
  const dataDir = await embeddedDirectory('migrated');
  return {
    dataDir,
    databaseUrl: embeddedUrl(dataDir),
    env: { ...secrets, DATA_DIR: dataDir },
    signIn: null,
    remove: async () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

async function onServer(): Promise<Place> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-console-'));
  const stop = await startDatabases();
  const { url } = await createDatabase();
  const db = openDb(url);
  const { KEY_PEPPER: keyPepper, ENCRYPTION_KEY: encryptionKey } = secrets;
  const made = await seedFirstRun(db, { keyPepper, encryptionKey, sandbox: true });
  // Like the people that tests create, so that they may change something.
  await db.prisma.user.updateMany({ data: { emailVerifiedAt: new Date() } });
  await db.close();
  if (!made) throw new Error('the database of the console’s tests was in use already');
  const open = { HOST: '127.0.0.1', SANDBOX: 'on', ALLOW_SIGN_UP: 'on' };
  return {
    dataDir,
    databaseUrl: url,
    env: { ...secrets, ...open, DATA_DIR: dataDir, DATABASE_URL: url },
    signIn: made,
    remove: async () => {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
