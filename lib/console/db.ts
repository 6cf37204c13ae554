import { openPayments } from '#lib/billing/payments/client';
import type { ControlHost } from '#lib/control/run';
import { accountsOf } from '#lib/control/user/account-rules';
import { openDb } from '#lib/data/db';
import { type Env, envSecret, findHostEnv, publicUrl } from '#lib/env';
import { openOutboxOf } from '#lib/mail/open';
import { sealingKeysOf } from '#lib/sealing';
import { loadCatalogue } from '#lib/snapshot/catalogue';
import { openThrottle } from '#lib/throttle/open';
import type { Throttle } from '#lib/throttle/throttle';

/** What the console needs of the process's settings. */
interface ConsoleEnv {
  /** Address of the console and the gateway as people reach it, without a slash at the end. */
  readonly publicUrl: string;
  /** Signs and encrypts the session cookie. */
  readonly authSecret: string;
  /** Accounts with which people may sign in besides a password. */
  readonly providers?: Pick<Env, 'github' | 'google'>;
  /** Whether mail is sent; else its links are printed in the log. */
  readonly mails?: boolean;
  /** Whether everybody may read the status page; default: true. */
  readonly statusPage?: boolean;
}

/** What the process gives to the console's pages and actions. */
export interface ConsoleHost {
  /** What operations work with; a change made here is in force on this machine at once. */
  readonly control: ControlHost;
  readonly env: ConsoleEnv;
  /** Counts what people try by hand. */
  readonly throttle: Throttle;
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
  const sealingKey = sealingKeysOf(env);
  const report = (error: unknown) => console.error(error);
  const outbox = openOutboxOf(env, db, { publicUrl: publicUrl(env, env.port), report });
  const made: ConsoleHost = {
    control: {
      accounts: accountsOf(env),
      db,
      keyPepper: env.keyPepper,
      sealingKey,
      payments: env.stripe === null ? null : openPayments(env.stripe, publicUrl(env, env.port)),
      catalogue: () =>
        loadCatalogue(db.pool, { envSecret: (name) => envSecret(name) ?? undefined, sealingKey }),
      // Processes that serve calls poll the change feed once a second.
      changed: () => outbox.wake(),
    },
    env: consoleEnvOf(env, env.port),
    throttle: openThrottle(env, report).throttle,
    report,
  };
  setConsoleHost(made);
  return made;
}

/** @param port the one that the process listens on. */
export function consoleEnvOf(env: Env, port: number): ConsoleEnv {
  return {
    publicUrl: publicUrl(env, port),
    authSecret: env.nextAuthSecret,
    providers: { github: env.github, google: env.google },
    mails: env.smtpUrl !== null,
    statusPage: env.statusPage,
  };
}
