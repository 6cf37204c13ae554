import { join } from 'node:path';
import type { Payments } from '#lib/billing/payments/client';
import { readHealth } from '#lib/command/live/offers';
import type { ControlHost } from '#lib/control/run';
import { accountsOf } from '#lib/control/user/account-rules';
import type { Db } from '#lib/data/db';
import type { Env } from '#lib/env';
import type { Outbox } from '#lib/mail/drain';
import type { GatewayProcess } from '#lib/process/gateway-process';
import { sealingKeysOf } from '#lib/sealing';
import { announce } from '#lib/snapshot/announce';
import { readLimitUse } from '#lib/snapshot/limit-use';

interface ControlParts {
  readonly db: Db;
  readonly running: Pick<GatewayProcess, 'pollNow' | 'runtime'>;
  readonly outbox: Pick<Outbox, 'wake'>;
  readonly payments: Payments | null;
}

/** What this process gives to operations, whichever adapter runs them. */
export function controlOf(
  env: Pick<
    Env,
    | 'keyPepper'
    | 'encryptionKey'
    | 'oldEncryptionKeys'
    | 'dataDir'
    | 'allowSignUp'
    | 'signUpCreditNano'
    | 'signUpCreditDays'
    | 'databaseUrl'
    | 'settlement'
  >,
  { db, running, outbox, payments }: ControlParts,
): ControlHost {
  return {
    db,
    keyPepper: env.keyPepper,
    sealingKey: sealingKeysOf(env),
    accounts: accountsOf(env),
    payments,
    pools: running.runtime.pools,
    ...(env.settlement === 'database' ? {} : { journalDir: join(env.dataDir, 'journal') }),
    catalogue: () => running.runtime.catalogue(),
    limitUse: (keyId) => readLimitUse(env.dataDir, keyId),
    health: () => readHealth(env.dataDir),
    // At once here, and in the other processes of this machine.
    changed: async () => {
      outbox.wake();
      await running.pollNow();
      await announce(env.dataDir);
    },
  };
}
