import { type Db, openDb } from '#lib/data/db';
import { type Env, envSecret, findHostEnv, publicUrl } from '#lib/env';
import { readSealingKey } from '#lib/secrets';
import { loadCatalogue } from '#lib/snapshot/catalogue';
import type { Catalogue } from '#lib/snapshot/snapshot';

/** What the console needs of the process's settings. */
interface ConsoleEnv {
  /** Address of the console and the gateway as people reach it, without a slash at the end. */
  readonly publicUrl: string;
  /** Signs and encrypts the session cookie. */
  readonly authSecret: string;
  /** Secret under which API keys are hashed. */
  readonly keyPepper: string;
}

/** What the process gives to the console's pages and actions. */
export interface ConsoleHost {
  readonly db: Db;
  readonly env: ConsoleEnv;
  /** The catalogue in force. */
  catalogue(): Catalogue | Promise<Catalogue>;
  /** Models that some chat call could be routed to now; null where the process does not know. */
  listChatModels(): ReadonlySet<string> | null;
  /** Has this process read the change feed now, so that a change made here is in force at once. */
  pollNow(): void | Promise<void>;
  /** Unexpected errors of pages and actions, for the log. */
  report(error: unknown): void;
}

const slot = Symbol.for('model-gateway.console-host');

/** Called by the process before it serves a page; null takes it away again. */
export function setConsoleHost(host: ConsoleHost | null): void {
  (globalThis as Record<symbol, unknown>)[slot] = host;
}

/**
 * The host of this process: what server.ts set, else one made of the environment, for a host that runs
 * only Next. Next bundles its own copies of modules; the registered symbol makes all of them see one.
 * @throws Error without DATABASE_URL and KEY_PEPPER.
 */
export function getConsoleHost(): ConsoleHost {
  const known = (globalThis as Record<symbol, unknown>)[slot];
  if (known) return known as ConsoleHost;
  const env = findHostEnv();
  if (!env?.databaseUrl) throw new Error('the console needs DATABASE_URL and KEY_PEPPER; set both');
  const db = openDb(env.databaseUrl);
  const sealingKey = readSealingKey(env.encryptionKey);
  const made: ConsoleHost = {
    db,
    env: consoleEnvOf(env, env.port),
    catalogue: () =>
      loadCatalogue(db.pool, { envSecret: (name) => envSecret(name) ?? undefined, sealingKey }),
    listChatModels: () => null,
    // Nothing to wake: processes that serve calls poll the change feed once a second.
    pollNow: () => undefined,
    report: (error) => console.error(error),
  };
  setConsoleHost(made);
  return made;
}

/** @param port the one that the process listens on. */
function consoleEnvOf(env: Env, port: number): ConsoleEnv {
  return { publicUrl: publicUrl(env, port), authSecret: env.nextAuthSecret, keyPepper: env.keyPepper };
}
