import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { messageOf } from '#lib/core/errors';
import type { Admission } from '#lib/gateway/settlement/recent';
import { type RecoverOptions, recover } from '#lib/gateway/settlement/recover';
import { isWaitOver } from '#lib/platform/data/database-errors';

/** How long a start waits for locks that others hold, ms; abandoned ones are free sooner. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 1_000;

/**
 * Settles what dead processes left, and says so in the log. A transaction of the dead process may still hold its locks
 * (contract: durability/abandoned-transactions): then it is tried again.
 * @returns the calls admitted lately, for the windows.
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
      log.error({ reason: messageOf(error) }, 'what a dead process left is locked: trying again');
      await pause(PAUSE_MS);
    }
  }
}
