import { Coordinator } from '#lib/gateway/admission/coordinator';
import { createRowMoney, ROW_OWNER } from '#lib/gateway/admission/database/money-in-database';
import { openDatabaseJournal } from '#lib/gateway/settlement/by-database/journal';
import { listRecentAdmissions } from '#lib/gateway/settlement/recent';
import type { Books, BooksParts } from '#lib/programs/process/books/books';
import { watchOutdated } from '#lib/programs/process/books/outdated';

/** Books in the database only: two transactions a call, for processes without a persistent disk. */
export async function openDatabaseBooks(
  parts: Pick<BooksParts, 'db' | 'clock' | 'log' | 'shared' | 'report'>,
): Promise<Books> {
  const { db, clock, log } = parts;
  const outdated = watchOutdated(() => coordinator, log);
  const report: BooksParts['report'] = (error, callId) => {
    outdated.failed(error);
    parts.report(error, callId);
  };
  const journal = openDatabaseJournal({
    pool: db.pool,
    ownerId: ROW_OWNER,
    onPosted: (calls) => {
      outdated.settled();
      coordinator.posted(calls);
    },
    report,
  });
  const money = createRowMoney(db);
  const coordinator = new Coordinator({
    clock,
    shared: parts.shared,
    byRows: true,
    money: {
      ...money,
      // The next claim ends the calls of processes that are gone.
      fund: async (ask) => {
        await journal.endExpired(false);
        return money.fund(ask);
      },
    },
    flushSettlement: async () => {
      await journal.endExpired(true);
      await journal.settled();
    },
    report: (error) => report(error, null),
  });
  await journal.endExpired(true);
  coordinator.restoreWindows(await listRecentAdmissions(db.pool, clock.now(), new Map()));
  await coordinator.start();
  return {
    journal,
    coordinator,
    backlog: () => journal.backlog,
    // Each call waits for its own posting: it has not ended before.
    oldestMs: () => 0,
    setAside: () => ({ damaged: 0, rejected: 0 }),
    telemetry: () => null,
    close: async () => {
      await journal.close();
      await coordinator.close();
    },
  };
}
