import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { messageOf } from '#lib/core/errors';
import type { Admission } from '#lib/gateway/settlement/recent';
import { type RecoverOptions, recover } from '#lib/gateway/settlement/recover';
import { isWaitOver } from '#lib/platform/data/database-errors';

/** How long a start waits for other processes' locks, ms; abandoned locks are freed sooner. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 1_000;

/**
 * Settles the calls of dead processes and logs it. If a transaction of the dead process still holds its locks
 * (contract: durability/abandoned-transactions), it tries again.
 * @returns recently admitted calls, for the windows of limits.
 * @throws Error of the database or the directory; for locks after a minute.
 */
export async function settleLeftovers(options: RecoverOptions, log: Logger): Promise<readonly Admission[]> {
  const untilMs = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      const { owners, settled, interrupted, recent } = await recover(options);
      if (owners.length > 0) log.warn({ settled, interrupted }, 'recovered');
      return recent;
    } catch (error) {
      if (!isWaitOver(error) || performance.now() > untilMs) throw error;
      log.error({ reason: messageOf(error) }, 'the calls of a dead process are still locked: trying again');
      await pause(PAUSE_MS);
    }
  }
}
