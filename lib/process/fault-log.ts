import type { Logger } from 'pino';
import type { Clock } from '#lib/clock';
import * as databaseErrors from '#lib/data/database-errors';
import { messageOf, stackOf } from '#lib/errors';

/** Writes what went wrong to the log, with one line for a database that is away however many statements fail. */
export interface FaultLog {
  /** @param callId the call that it happened to; null: none. */
  report(error: unknown, callId: string | null): void;
  /** A statement was answered: after an outage the log says so. */
  databaseAnswers(): void;
  /** Whether the last that was heard of the database is that it is away. */
  isDatabaseAway(): boolean;
}

/** @param allowedMs how long calls go on without the database (contract: money/outage-allowance). */
export function createFaultLog(log: Logger, clock: Pick<Clock, 'mono'>, allowedMs: number): FaultLog {
  let away: { readonly sinceMono: number; failed: number } | null = null;
  return {
    report(error, callId) {
      if (!databaseErrors.isDatabaseAway(error)) {
        log.error({ callId, reason: stackOf(error) }, 'fault');
        return;
      }
      if (away === null) {
        away = { sinceMono: clock.mono(), failed: 0 };
        const until = allowedMs > 0 ? `for ${allowedMs / 60_000} min` : 'while leases last';
        const text = `the database is away: running calls finish, new ones go on ${until}`;
        log.error({ reason: messageOf(error) }, text);
      }
      away.failed += 1;
    },
    databaseAnswers() {
      if (away === null) return;
      const awayMs = Math.round(clock.mono() - away.sinceMono);
      log.info({ awayMs, failed: away.failed }, 'the database answers again');
      away = null;
    },
    isDatabaseAway: () => away !== null,
  };
}
