import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Posted } from '#lib/gateway/admission/claim';
import { listExpired, renew, writeCheckpoints } from '#lib/gateway/settlement/by-database/open-calls';
import type {
  CloseEntry,
  DrainedEntry,
  Entry,
  Journal,
  RefusedEntry,
} from '#lib/gateway/settlement/pure/entry';
import { bytesOf } from '#lib/gateway/settlement/record/read';
import { settleIsolating } from '#lib/gateway/settlement/settle';
import { isRefusedData } from '#lib/platform/data/database-errors';

/** Most calls in one transaction. */
const BATCH = 200;
const RENEW_MS = 10_000;
const LOOK_MS = 5_000;
/** Pauses before a settlement that failed is tried again, ms: its client waits. */
const PAUSES_MS = [100, 500, 2_000];
/** Pause before what could not be settled in time is tried again, ms: no client waits for it. */
const REMEMBERED_MS = 2_000;
/** Ends that wait in memory while the database is away; beyond it those of refused calls are dropped. */
const MOST_REMEMBERED = 10_000;

export interface DatabaseJournalOptions {
  readonly pool: Pool;
  readonly ownerId: string;
  /** These calls are in the ledger. */
  onPosted(calls: readonly Posted[]): void;
  report(error: unknown, callId: string | null): void;
}

/** The journal of a process without a kept disk: what is appended is in the database when its promise resolves. */
export interface DatabaseJournal extends Journal {
  /** Ends that are not in the database yet. */
  readonly backlog: number;
  /** Resolves once everything that ended before is in the database, or has failed. */
  settled(): Promise<void>;
  /** Ends calls of processes that have not been heard from; at most every 5 s unless it must. Never rejects. */
  endExpired(must: boolean): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  readonly entry: DrainedEntry;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Settles each call in a transaction of its own, or of those that end at the same time
 * (contract: durability/settlement-modes). No timer bears money: a process that is frozen between calls loses nothing.
 */
export function openDatabaseJournal(options: DatabaseJournalOptions): DatabaseJournal {
  const { pool, ownerId, report } = options;
  const running = new Set<string>();
  const ends: Waiting[] = [];
  let remembered: DrainedEntry[] = [];
  let settling: Promise<void> | null = null;
  let checkpoints = new Map<string, { readonly bytes: Buffer; readonly told: PromiseWithResolvers<void> }>();
  let noting: Promise<void> | null = null;
  let lookedMs = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;

  async function settleAll(): Promise<void> {
    // Those that end in one tick share a transaction.
    await Promise.resolve();
    while (ends.length > 0) {
      const batch = ends.splice(0, BATCH);
      const refused = new Map<DrainedEntry, Error>();
      try {
        await post(
          batch.map(({ entry }) => entry),
          (entry, error) => refused.set(entry, error),
        );
        for (const { entry, resolve, reject } of batch) {
          const error = refused.get(entry);
          if (error === undefined) resolve();
          else reject(error);
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  async function post(
    entries: readonly DrainedEntry[],
    onRefused: (entry: DrainedEntry, error: Error) => void,
    tokens: 'own' | 'expired' = 'own',
  ): Promise<void> {
    const how = { own: true, again: false, passes: () => true, tokens } as const;
    for (let tries = 0; ; tries += 1) {
      try {
        const posted = await settleIsolating(pool, ownerId, entries, { how, onRefused });
        options.onPosted(posted.flatMap(postedOf));
        return;
      } catch (error) {
        const pauseMs = PAUSES_MS[tries];
        if (pauseMs === undefined || isRefusedData(error)) throw error;
        await pause(pauseMs);
      }
    }
  }

  function settle(entry: DrainedEntry): Promise<void> {
    return new Promise((resolve, reject) => {
      ends.push({ entry, resolve, reject });
      settling ??= settleAll().finally(() => {
        settling = null;
      });
    });
  }

  async function noteAll(): Promise<void> {
    await Promise.resolve();
    while (checkpoints.size > 0) {
      const batch = checkpoints;
      checkpoints = new Map();
      try {
        await writeCheckpoints(pool, new Map([...batch].map(([id, { bytes }]) => [id, bytes])));
        for (const { told } of batch.values()) told.resolve();
      } catch (error) {
        for (const { told } of batch.values()) told.reject(error);
      }
    }
  }

  function note(entry: Extract<Entry, { kind: 'checkpoint' }>): Promise<void> {
    const told = checkpoints.get(entry.callId)?.told ?? Promise.withResolvers<void>();
    told.promise.catch(() => {});
    checkpoints.set(entry.callId, { bytes: bytesOf(entry), told });
    noting ??= noteAll().finally(() => {
      noting = null;
    });
    return told.promise;
  }

  async function look(): Promise<void> {
    try {
      const expired = await listExpired(pool);
      if (expired.length > 0) await post(expired, (entry, error) => report(error, entry.callId), 'expired');
    } catch (error) {
      report(error, null);
    }
  }

  function endExpired(must: boolean): Promise<void> {
    if (!must && performance.now() - lookedMs < LOOK_MS) return Promise.resolve();
    lookedMs = performance.now();
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  }

  /** What could not be settled while its client waited, as that client was told. */
  async function settleRemembered(): Promise<void> {
    if (remembered.length === 0) return;
    const batch = remembered;
    remembered = [];
    try {
      await post(batch, (entry, error) => report(error, entry.callId));
    } catch (error) {
      remembered = [...batch, ...remembered];
      report(error, null);
    }
  }

  const renewing = setInterval(() => {
    if (running.size > 0) renew(pool, [...running]).catch((error: unknown) => report(error, null));
    void endExpired(false);
  }, RENEW_MS);
  const repeating = setInterval(() => void settleRemembered(), REMEMBERED_MS);
  for (const timer of [renewing, repeating]) timer.unref();

  return {
    append(entry) {
      if (entry.kind === 'open') {
        // It was written with the hold, in the claim's transaction.
        running.add(entry.callId);
        return Promise.resolve();
      }
      if (entry.kind === 'checkpoint') return note(entry);
      if (entry.kind !== 'keep') running.delete(entry.callId);
      const done = settle(entry);
      done.catch(() => {});
      return done;
    },
    remember(entry: CloseEntry | RefusedEntry) {
      if (entry.kind === 'refused' && remembered.length >= MOST_REMEMBERED) return;
      remembered.push(entry);
    },
    get backlog() {
      return ends.length + remembered.length;
    },
    async settled() {
      await settling;
      await settleRemembered();
    },
    endExpired,
    async close() {
      clearInterval(renewing);
      clearInterval(repeating);
      await noting;
      await settling;
      await looking;
      await settleRemembered();
    },
  };
}

function postedOf(entry: DrainedEntry): Posted[] {
  if (entry.kind !== 'close') return [];
  const { call, callId, funding } = entry;
  return [{ callId, workspaceId: call.workspaceId, keyId: call.keyId, funding, chargeNano: call.costNano }];
}
