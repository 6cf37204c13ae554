import { readHealth } from '#lib/command/live/offers';
import type { ControlHost } from '#lib/control/run';
import type { Db } from '#lib/data/db';
import type { Env } from '#lib/env';
import type { GatewayProcess } from '#lib/process/gateway-process';
import { readSealingKey } from '#lib/secrets';
import { announce } from '#lib/snapshot/announce';
import { readLimitUse } from '#lib/snapshot/limit-use';

/** What this process gives to operations, whichever adapter runs them. */
export function controlOf(
  env: Pick<Env, 'keyPepper' | 'encryptionKey' | 'dataDir'>,
  db: Db,
  running: Pick<GatewayProcess, 'pollNow' | 'runtime'>,
): ControlHost {
  return {
    db,
    keyPepper: env.keyPepper,
    sealingKey: readSealingKey(env.encryptionKey),
    catalogue: () => running.runtime.catalogue(),
    limitUse: (keyId) => readLimitUse(env.dataDir, keyId),
    health: () => readHealth(env.dataDir),
    // At once here, and in the other processes of this machine.
    changed: async () => {
      await running.pollNow();
      await announce(env.dataDir);
    },
  };
}
