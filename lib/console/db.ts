import { openPayments } from '#lib/billing/payments/client';
import { type ConsoleHost, consoleEnvOf, findConsoleHost, setConsoleHost } from '#lib/console/host';
import { accountsOf } from '#lib/control/user/account-rules';
import { openDb } from '#lib/data/db';
import { envSecret, findHostEnv, publicUrl } from '#lib/env';
import { openOutboxOf } from '#lib/mail/open';
import { sealingKeysOf } from '#lib/sealing';
import { loadCatalogue } from '#lib/snapshot/catalogue';
import { openThrottle } from '#lib/throttle/open';

/**
 * The host of this process: what server.ts set, else one made of the environment, for a host that runs
 * only Next. Next bundles its own copies of modules; the registered symbol makes all of them see one.
 * @throws Error without DATABASE_URL and KEY_PEPPER.
 */
export function getConsoleHost(): ConsoleHost {
  const known = findConsoleHost();
  if (known) return known;
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
    env: consoleEnvOf(env, env.port, [env.nextAuthSecret, ...env.oldNextAuthSecrets]),
    throttle: openThrottle(env, report).throttle,
    report,
  };
  setConsoleHost(made);
  return made;
}
