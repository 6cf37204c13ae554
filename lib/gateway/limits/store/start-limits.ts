import type { Logger } from 'pino';
import { messageOf } from '#lib/core/errors';
import { createFleet } from '#lib/gateway/limits/fleet';
import { processName } from '#lib/gateway/limits/free-slots';
import { SharedLimits } from '#lib/gateway/limits/shared-limits';
import { openLimitStore } from '#lib/gateway/limits/store/open-limits';
import type { Clock } from '#lib/platform/clock';
import type { Db } from '#lib/platform/data/db';
import type { Env } from '#lib/platform/env/env';

interface Parts {
  readonly env: Env;
  readonly db: Db;
  readonly ownerId: string;
  readonly clock: Clock;
  readonly log: Logger;
  report(error: unknown, callId: null): void;
}

/**
 * The limits that this process shares with others. It must be an owner before `start`: the others count it from then.
 * @returns null where this process counts alone.
 */
export async function openSharedLimits(parts: Parts): Promise<SharedLimits | null> {
  const { env, db, ownerId, clock, log } = parts;
  const report = (error: unknown) => parts.report(error, null);
  const quiet = (error: unknown) => log.debug({ reason: messageOf(error) }, 'limit store');
  const store = await openLimitStore(env, db.pool.options.connectionString ?? null, quiet);
  if (!store) return null;
  const fleet = createFleet(db.pool, ownerId, report);
  return new SharedLimits({
    clock,
    store,
    report,
    fleet,
    process: processName(ownerId),
    onLost: (error) => {
      const { processes } = fleet.now();
      const text = 'the store of limits is away: this process admits its share of each limit';
      log.warn({ store: store.name, reason: messageOf(error), processes }, text);
    },
    onBack: () => log.warn({ store: store.name }, 'the store of limits answers again'),
  });
}
