import type { Pool } from 'pg';
import type { Posted } from '#lib/gateway/admission/claim';
import type { OwnJournal } from '#lib/gateway/settlement/journal/journal';
import type { DrainedEntry } from '#lib/gateway/settlement/pure/entry';
import { settleIsolating } from '#lib/gateway/settlement/settle';

/** Runs something once after a time, ms. @returns what cancels it. */
export type Schedule = (run: () => void, delayMs: number) => () => void;

export interface DrainOptions {
  readonly pool: Pool;
  readonly journal: OwnJournal;
  /** The transaction committed: these calls are in the ledger. */
  onPosted(calls: readonly Posted[]): void;
  /** The database is away, or refuses a call (`callId`) for its content. */
  report(error: Error, callId: string | null): void;
  readonly schedule?: Schedule;
  /** Time between drains, ms; default 200. */
  readonly everyMs?: number;
  /** Calls in one transaction; default 2,000. */
  readonly batchSize?: number;
}

export interface Drain {
  /** Brings everything that was appended before to the database. @throws Error when that failed. */
  drainNow(): Promise<void>;
  /** Ends the schedule and waits for a running drain; what waits stays in the journal. */
  stop(): Promise<void>;
}

const longestPauseMs = 5_000;

/**
 * Drains a journal into the database from now on (contract: durability/drain). While the database is away nothing
 * is lost: the journal keeps it, and the pause doubles up to 5 s.
 */
export function startDrain(options: DrainOptions): Drain {
  const { schedule = unreferencedTimer, everyMs = 200 } = options;
  let pauseMs = everyMs;
  let running: Promise<void> | null = null;
  let cancel = schedule(tick, pauseMs);
  let stopped = false;
  /** The last drain failed: what it brought to the database is not known. */
  let unsure = false;

  function tick(): void {
    drainNow()
      .then(() => {
        pauseMs = everyMs;
      })
      .catch((error: unknown) => {
        options.report(error instanceof Error ? error : new Error(String(error)), null);
        pauseMs = Math.min(pauseMs * 2, Math.max(longestPauseMs, everyMs));
      })
      .finally(() => {
        if (!stopped) cancel = schedule(tick, pauseMs);
      });
  }

  /** One at a time: a second caller waits for the running drain and then has its own. */
  async function drainNow(): Promise<void> {
    while (running) await running.catch(() => {});
    const mine = drainAll(options, unsure);
    running = mine;
    try {
      unsure = true;
      await mine;
      unsure = false;
    } finally {
      running = null;
    }
  }

  return {
    drainNow,
    async stop() {
      stopped = true;
      cancel();
      await running?.catch(() => {});
    },
  };
}

async function drainAll(options: DrainOptions, again: boolean): Promise<void> {
  const { pool, journal, onPosted, report, batchSize = 2000 } = options;
  // Loss of power may take what the last drain had not posted, no more.
  const synced = journal.sync();
  synced.catch(() => {});
  for (let left = journal.backlog; left > 0; ) {
    const batch = journal.next(Math.min(batchSize, left));
    if (batch.length === 0) break;
    const unkept: unknown[] = [];
    const setAside = (entry: DrainedEntry, error: Error) => {
      report(error, entry.callId);
      try {
        journal.setAside(entry);
      } catch (failure) {
        // The disk refuses it, but the database still takes the others.
        unkept.push(failure);
      }
    };
    const how = { own: true, again, passes: () => unkept.length === 0 };
    const settled = await settleIsolating(pool, journal.ownerId, batch, { how, onRefused: setAside });
    if (unkept.length === 0) journal.drop(batch.length);
    left -= batch.length;
    onPosted(settled.flatMap(postedOf));
    if (unkept.length > 0) throw unkept[0];
  }
  await synced;
}

function postedOf(entry: DrainedEntry): Posted[] {
  if (entry.kind !== 'close') return [];
  const { call, callId, funding } = entry;
  return [{ callId, workspaceId: call.workspaceId, keyId: call.keyId, funding, chargeNano: call.costNano }];
}

function unreferencedTimer(run: () => void, delayMs: number): () => void {
  const timer = setTimeout(run, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}
