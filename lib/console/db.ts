import { type ConsoleHost, consoleEnvOf, findConsoleHost, setConsoleHost } from '#lib/console/host';
import { openPayments } from '#lib/control/billing/payments/client';
import { openOutboxOf } from '#lib/control/mail/open-outbox';
import { accountsOf } from '#lib/control/operations/user/account-rules';
import { ownKeyRulesOf } from '#lib/core/facts/own-key-rules';
import { ObjectStore } from '#lib/gateway/content/objects/object-store';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { openDb } from '#lib/platform/data/db';
import { envSecret, findHostEnv, publicUrl } from '#lib/platform/env/env';
import { sealingKeysOf } from '#lib/platform/sealing';
import { openThrottle } from '#lib/platform/throttle/open-throttle';

/**
 * The host of this process: the one that server.ts set, otherwise one made from the environment, if the host
 * runs only Next. Next bundles its own copies of modules; the registered symbol lets all of them share one.
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
      ownKeys: ownKeyRulesOf(env),
      db,
      keyPepper: env.keyPepper,
      sealingKey,
      objects: new ObjectStore(env.contentStore),
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
