import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { messageOf } from '#lib/core/errors';
import { type RecoverOptions, recover } from '#lib/gateway/settlement/recover';
import { systemClock } from '#lib/platform/clock';
import { forgetOwner } from '#lib/programs/process/workers/owner-locks';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

export interface TakeOverParts {
  readonly pool: Pool;
  readonly dataDir: string;
  readonly journalDir: string;
  /** The owners whose processes live. */
  living(): ReadonlySet<string>;
  readonly onInterrupted: RecoverOptions['onInterrupted'];
  readonly log: Logger;
}

/** Settles the journals and closes the leases of workers that died, one after the other. */
export function createTakeOver(parts: TakeOverParts) {
  let last = Promise.resolve();
  const stopped = new AbortController();

  async function settle(): Promise<void> {
    const { pool, journalDir, dataDir, log } = parts;
    const left = await recover({
      pool,
      dir: journalDir,
      alive: parts.living(),
      nowMs: systemClock.now(),
      onInterrupted: parts.onInterrupted,
      report: (error, callId) => log.error({ callId, reason: error.message }, 'fault'),
    });
    for (const ownerId of left.owners) forgetOwner(dataDir, ownerId);
    if (left.owners.length > 0)
      log.warn({ settled: left.settled, interrupted: left.interrupted }, 'recovered');
  }

  async function untilSettled(): Promise<void> {
    for (
      let pauseMs = FIRST_PAUSE_MS;
      !stopped.signal.aborted;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    ) {
      try {
        await settle();
        return;
      } catch (error) {
        const reason = messageOf(error);
        parts.log.error({ reason }, 'the calls of a dead worker cannot be settled yet: trying again');
        await pause(pauseMs, undefined, { signal: stopped.signal }).catch(() => undefined);
      }
    }
  }

  return {
    /** Settles the calls of dead workers; tries again, with growing pauses, while the database is away. Never rejects. */
    run: () => {
      last = last.then(untilSettled);
      return last;
    },
    /** Stops trying: the next start does. */
    stop: () => stopped.abort(),
  };
}
