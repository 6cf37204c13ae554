import { join } from 'node:path';
import { machineFaultOf } from '#lib/core/machine-fault';
import { Coordinator } from '#lib/gateway/admission/coordinator';
import { createMoneyStore } from '#lib/gateway/admission/database/money-in-database';
import { startDrain } from '#lib/gateway/settlement/drain';
import { openJournal } from '#lib/gateway/settlement/journal/journal';
import { endOwn } from '#lib/gateway/settlement/once';
import { listRecentAdmissions } from '#lib/gateway/settlement/recent';
import type { RecoverOptions } from '#lib/gateway/settlement/recover';
import { countSetAside } from '#lib/gateway/settlement/set-aside';
import { ownVersion } from '#lib/platform/own-version';
import { keyPrints, sealingKeysOf } from '#lib/platform/sealing';
import type { Books, BooksParts } from '#lib/programs/process/books/books';
import { settleLeftovers } from '#lib/programs/process/books/leftovers';
import { watchOutdated } from '#lib/programs/process/books/outdated';
import { openTelemetry } from '#lib/programs/process/telemetry';

/** Books by leases and a journal in DATA_DIR. Settles the calls of dead processes first, unless it is a worker. */
export async function openJournalBooks(parts: BooksParts): Promise<Books> {
  const { env, db, worker, ownerId, clock, log, shared, report } = parts;
  const journalDir = join(env.dataDir, 'journal');
  const telemetry = openTelemetry(env, { db, journalDir, log, worker: worker?.number });
  const found = { pool: db.pool, dir: journalDir, nowMs: clock.now(), report };
  const onInterrupted: RecoverOptions['onInterrupted'] = async (dead, ended) => {
    await telemetry.onInterrupted?.(dead, ended);
    await shared?.freeSlots(
      dead,
      ended.map(({ call }) => call),
    );
  };
  const recent =
    worker === null
      ? await settleLeftovers({ ...found, onInterrupted }, log)
      : await listRecentAdmissions(db.pool, clock.now(), new Map());
  // One process of a machine counts what is in the directory that all of them share.
  const setAside = (worker?.number ?? 1) === 1 ? countSetAside(journalDir) : { damaged: 0, rejected: 0 };
  const exporter = telemetry.start(ownerId, clock.now());
  const journal = openJournal(journalDir, ownerId, {
    report: (error) => report(error, null),
    onFile: (file) => exporter?.begin(file),
    onRemembered: ({ call }) => exporter?.remember(call),
    onFailure: (error) => {
      report(error, null);
      exporter?.makeRoom();
      const code = 'code' in error ? ` (${error.code})` : '';
      coordinator.suspend(
        'journal',
        `its journal cannot be written${code}; its operator must free disk space, then retry`,
        machineFaultOf(error),
      );
    },
    onWritable: () => {
      log.warn('the journal can be written again: new calls are accepted');
      coordinator.resume('journal');
    },
  });
  const outdated = watchOutdated(() => coordinator, log);
  const watched: BooksParts['report'] = (error, callId) => {
    outdated.failed(error);
    report(error, callId);
  };
  const coordinator = new Coordinator({
    clock,
    shared: parts.shared,
    outage: env.outage,
    money: createMoneyStore(db, ownerId, {
      version: ownVersion(),
      keyPrints: keyPrints(sealingKeysOf(env)),
    }),
    flushSettlement: () => drain.drainNow(),
    report: (error) => watched(error, null),
  });
  const drain = startDrain({
    pool: db.pool,
    journal,
    onPosted: (calls) => {
      outdated.settled();
      coordinator.posted(calls);
    },
    report: watched,
  });
  coordinator.restoreWindows(recent);
  await coordinator.start();

  return {
    journal,
    coordinator,
    backlog: () => journal.backlog,
    oldestMs: () => journal.oldestMs,
    setAside: () => ({ damaged: setAside.damaged, rejected: setAside.rejected + journal.rejected }),
    telemetry: () => exporter?.state() ?? null,
    close: async () => {
      await drain.drainNow().catch((error: unknown) => report(error, null));
      await drain.stop();
      if (journal.open === 0 && journal.backlog === 0)
        await endOwn(db.pool, ownerId).catch((error: unknown) => report(error, null));
      await coordinator.close();
      await journal.close();
      await exporter?.stop();
    },
  };
}
