import type { Pool } from 'pg';
import type { DrainedEntry } from '#lib/gateway/settlement/pure/entry';
import { type Posting, settle } from '#lib/gateway/settlement/settle';
import { isRefusedData } from '#lib/platform/data/database-errors';

/**
 * As `settle`, but entries that the database refuses for what they hold do not keep the others: they are
 * found by halves and given to `onRefused`, before what stands behind them is posted.
 * @returns the entries that stand in the database.
 * @throws Error when the database cannot be asked: then nothing is known about the entries.
 */
export async function settleIsolating(
  pool: Pool,
  ownerId: string,
  entries: readonly DrainedEntry[],
  posting: {
    readonly how: Posting;
    readonly onRefused: (entry: DrainedEntry, error: Error) => void;
  },
): Promise<DrainedEntry[]> {
  const [only] = entries;
  if (!only) return [];
  try {
    await settle(pool, ownerId, entries, posting.how);
    return [...entries];
  } catch (error) {
    if (!isUnpostable(error)) throw error;
    if (entries.length === 1) {
      posting.onRefused(only, error);
      return [];
    }
    const half = Math.ceil(entries.length / 2);
    const first = await settleIsolating(pool, ownerId, entries.slice(0, half), posting);
    const second = await settleIsolating(pool, ownerId, entries.slice(half), posting);
    return [...first, ...second];
  }
}

/** Refused for what it holds, or a value that cannot be written at all. */
function isUnpostable(error: unknown): error is Error {
  return error instanceof RangeError || error instanceof TypeError || isRefusedData(error);
}
