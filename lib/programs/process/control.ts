import { join } from 'node:path';
import type { Payments } from '#lib/control/billing/payments/client';
import type { Outbox } from '#lib/control/mail/drain';
import type { ControlHost } from '#lib/control/operations/run';
import { accountsOf } from '#lib/control/operations/user/account-rules';
import { ownKeyRulesOf } from '#lib/core/facts/own-key-rules';
import { ObjectStore } from '#lib/gateway/content/objects/object-store';
import { announce, readLimitUse } from '#lib/gateway/snapshot/announce';
import type { Db } from '#lib/platform/data/db';
import type { Env } from '#lib/platform/env/env';
import { sealingKeysOf } from '#lib/platform/sealing';
import { readHealth } from '#lib/programs/command/live/offers';
import type { GatewayProcess } from '#lib/programs/process/assemble';

interface ControlParts {
  readonly db: Db;
  readonly running: Pick<GatewayProcess, 'pollNow' | 'runtime'>;
  readonly outbox: Pick<Outbox, 'wake'>;
  readonly payments: Payments | null;
}

/** What operations use of this process, whichever adapter runs them. */
export function controlOf(env: Env, { db, running, outbox, payments }: ControlParts): ControlHost {
  return {
    db,
    keyPepper: env.keyPepper,
    sealingKey: sealingKeysOf(env),
    objects: new ObjectStore(env.contentStore),
    accounts: accountsOf(env),
    ownKeys: ownKeyRulesOf(env),
    payments,
    pools: running.runtime.pools,
    access: running.runtime.access,
    ...(env.settlement === 'database' ? {} : { journalDir: join(env.dataDir, 'journal') }),
    catalogue: () => running.runtime.catalogue(),
    limitUse: (keyId) => readLimitUse(env.dataDir, keyId),
    health: () => readHealth(env.dataDir),
    // Takes effect at once here, and in the other processes of this machine.
    changed: async () => {
      outbox.wake();
      await running.pollNow();
      await announce(env.dataDir);
    },
  };
}
