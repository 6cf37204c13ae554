import type { Pool } from 'pg';
import { interrupt } from '#lib/gateway/settlement/interrupt';
import { endFiles, readPositions } from '#lib/gateway/settlement/once';
import type {
  CheckpointEntry,
  CloseEntry,
  DrainedEntry,
  OpenEntry,
} from '#lib/gateway/settlement/pure/entry';
import { type Admission, listRecentAdmissions } from '#lib/gateway/settlement/recent';
import { type Leftovers, listLeftovers } from '#lib/gateway/settlement/set-aside';
import { settleIsolating } from '#lib/gateway/settlement/settle';
import { idTimeMs } from '#lib/platform/ids';

export interface RecoverOptions {
  readonly pool: Pool;
  /** DATA_DIR/journal. The caller holds the lock of DATA_DIR. */
  readonly dir: string;
  /** Owners that run on the same directory: their files are left alone. */
  readonly alive?: ReadonlySet<string>;
  /** Now, ms since the epoch. */
  readonly nowMs: number;
  /** Damaged records, and calls (`callId`) that the database refuses for their content. */
  report(error: Error, callId: string | null): void;
  /**
   * Receives how the calls ended that were open in a dead owner's journal, before its files are deleted. Those whose
   * end was in another file were posted before, as that file said. Must not throw.
   */
  readonly onInterrupted?: ((ownerId: string, ended: readonly CloseEntry[]) => Promise<void>) | undefined;
}

export interface Recovery {
  /** Dead owners whose journals were found. */
  readonly owners: readonly string[];
  /** Ended calls in their journals, posted now or before. */
  readonly settled: number;
  /** Calls that were open when their process died. */
  readonly interrupted: number;
  /** Admissions of the last 60 s: the coordinator rebuilds its windows from them (contract: limits/rebuilt). */
  readonly recent: readonly Admission[];
}

const batchSize = 1000;

/**
 * Ends what dead processes left behind (contract: durability/recovery): their ended calls are posted in full, their
 * open ones end as `interrupted`, their leases and holds go, and last their files. Killed half-way, it
 * may run again, and a file may come back at any time: nothing is posted twice (contract: money/once).
 * @throws Error when the database or the directory cannot be used; the files then stay.
 */
export async function recover(options: RecoverOptions): Promise<Recovery> {
  const estimates = new Map<string, number>();
  const owners: string[] = [];
  let settled = 0;
  let interrupted = 0;
  for (const left of listLeftovers(options.dir, options.alive ?? new Set())) {
    const recovered = await recoverOwner(options, left);
    for (const open of recovered.interrupted) estimates.set(open.callId, open.tokens);
    owners.push(left.ownerId);
    settled += recovered.settled;
    interrupted += recovered.interrupted.length;
  }
  const recent = await listRecentAdmissions(options.pool, options.nowMs, estimates);
  return { owners, settled, interrupted, recent };
}

async function recoverOwner(options: RecoverOptions, left: Leftovers) {
  const { pool, report, nowMs } = options;
  const { ownerId } = left;
  const positions = await readPositions(pool, ownerId);
  const unended = new Map<string, { open: OpenEntry; checkpoint: CheckpointEntry | null }>();
  const refused: DrainedEntry[] = [];
  let batch: DrainedEntry[] = [];
  let settled = 0;
  const refuse = (entry: DrainedEntry, error: Error) => {
    left.setAside(entry);
    refused.push(entry);
    report(error, entry.callId);
  };
  const post = async () => {
    await settleIsolating(pool, ownerId, batch, { how: byFinder, onRefused: refuse });
    batch = [];
  };
  for (const { entry, place } of left.entries((error) => report(error, null), nowMs)) {
    if (entry.kind === 'open') {
      if (!place || !positions.hasEnded(place)) unended.set(entry.callId, { open: entry, checkpoint: null });
    } else if (entry.kind === 'checkpoint') {
      const call = unended.get(entry.callId);
      if (call) call.checkpoint = entry;
    } else {
      if (!place || !positions.covers(place)) batch.push(place ? { ...entry, place } : entry);
      if (entry.kind !== 'keep') {
        unended.delete(entry.callId);
        settled += 1;
      }
    }
    if (batch.length >= batchSize) await post();
  }
  const reached = positions.areReached(left.sizes);
  const ended: CloseEntry[] = [];
  for (const [callId, { open, checkpoint }] of unended) {
    if (!reached && idTimeMs(callId) < nowMs - leastKeptMs) {
      unended.delete(callId);
      report(mayBePosted(), callId);
    } else {
      const end = interrupt(open, checkpoint);
      ended.push(end);
      batch.push(end);
    }
    if (batch.length >= batchSize) await post();
  }
  await post();
  // If the process were killed after the next line, they would never be reported.
  if (ended.length > 0) await options.onInterrupted?.(ownerId, ended);
  await endFiles(pool, ownerId, left.sizes);
  await closeOwner(pool, ownerId);
  left.remove(refused);
  return { settled, interrupted: [...unended.values()].map(({ open }) => open) };
}

/** A younger call is in the log if it was posted: no workspace keeps less of it than a day. */
const leastKeptMs = 24 * 3_600_000;

const byFinder = { own: false, again: true, passes: () => true };

function mayBePosted(): Error {
  return new Error(
    'the call may have been posted before retention deleted it, and its journal does not show it: it is not posted again',
  );
}

/** Leases go with their owner; holds of jobs have none and stay. */
async function closeOwner(pool: Pool, ownerId: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await pool.query('DELETE FROM hold WHERE owner_id = $1', [ownerId]);
      await pool.query('DELETE FROM owner WHERE id = $1', [ownerId]);
      return;
    } catch (error) {
      // Another process asks these leases back at the same moment: one of the two was undone.
      const deadlock = error instanceof Error && 'code' in error && error.code === '40P01';
      if (!deadlock || tries === 3) throw error;
    }
  }
}
