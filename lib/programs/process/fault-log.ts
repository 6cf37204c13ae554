import type { Logger } from 'pino';
import { messageOf, stackOf } from '#lib/core/errors';
import { type MachineFault, machineFaultOf } from '#lib/core/machine-fault';
import type { Clock } from '#lib/platform/clock';
import * as databaseErrors from '#lib/platform/data/database-errors';

const AGAIN_MS = 60_000;

const remedies: Readonly<Record<MachineFault, string>> = {
  machine_files:
    'this process cannot open more files and connections: raise its limit (ulimit -n; LimitNOFILE in systemd)',
  machine_memory:
    'this machine has no memory left for connections or files: add memory, or send it fewer calls',
  machine_disk: 'the gateway cannot write to its disk: free space on the disk of DATA_DIR',
};

/**
 * Writes errors to the log: one line for an outage of the database, however many statements fail, and one a minute for
 * a fault of this machine (contract: call-log/machine-faults).
 * @param allowedMs how long calls go on without the database (contract: money/outage-allowance).
 */
export function createFaultLog(log: Logger, clock: Pick<Clock, 'mono'>, allowedMs: number) {
  let away: { readonly sinceMono: number; failed: number } | null = null;
  const told = new Map<MachineFault, { readonly untilMono: number; times: number }>();
  const tellMachineFault = (fault: MachineFault, error: unknown, callId: string | null) => {
    const known = told.get(fault);
    const nowMono = clock.mono();
    if (known && nowMono < known.untilMono) {
      known.times += 1;
      return;
    }
    log.error({ callId, fault, reason: messageOf(error), repeated: known?.times ?? 0 }, remedies[fault]);
    told.set(fault, { untilMono: nowMono + AGAIN_MS, times: 0 });
  };
  return {
    /** @param callId the call in which it happened; null: none. */
    report(error: unknown, callId: string | null) {
      const fault = machineFaultOf(error);
      if (fault !== null) {
        tellMachineFault(fault, error, callId);
        return;
      }
      if (!databaseErrors.isDatabaseAway(error)) {
        log.error({ callId, reason: stackOf(error) }, 'fault');
        return;
      }
      if (away === null) {
        away = { sinceMono: clock.mono(), failed: 0 };
        const until = allowedMs > 0 ? `for ${allowedMs / 60_000} min` : 'while leases last';
        const text = `the database is unavailable: running calls finish, and new calls are accepted ${until}`;
        log.error({ reason: messageOf(error) }, text);
      }
      away.failed += 1;
    },
    /** The database answered a statement; the log says so after an outage. */
    databaseAnswers() {
      if (away === null) return;
      const awayMs = Math.round(clock.mono() - away.sinceMono);
      log.info({ awayMs, failed: away.failed }, 'the database is available again');
      away = null;
    },
    /** Whether the database was unavailable when it was last used. */
    isDatabaseAway: () => away !== null,
  };
}
