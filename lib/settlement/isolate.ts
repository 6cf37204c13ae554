import type { Pool } from 'pg';
import type { DrainedEntry } from '#lib/settlement/entry';
import { settle } from '#lib/settlement/settle';

/**
 * As `settle`, but entries that the database refuses for what they hold do not keep the others: they are
 * found by halves and given to `onRefused`.
 * @returns the entries that stand in the database.
 * @throws Error when the database cannot be asked: then nothing is known about the entries.
 */
export async function settleIsolating(
  pool: Pool,
  ownerId: string,
  entries: readonly DrainedEntry[],
  onRefused: (entry: DrainedEntry, error: Error) => void,
): Promise<DrainedEntry[]> {
  const [only] = entries;
  if (!only) return [];
  try {
    await settle(pool, ownerId, entries);
    return [...entries];
  } catch (error) {
    if (!isRefusedData(error)) throw error;
    if (entries.length === 1) {
      onRefused(only, error);
      return [];
    }
    const half = Math.ceil(entries.length / 2);
    const first = await settleIsolating(pool, ownerId, entries.slice(0, half), onRefused);
    const second = await settleIsolating(pool, ownerId, entries.slice(half), onRefused);
    return [...first, ...second];
  }
}

/** Data exceptions, broken constraints and exceeded limits of SQL, or a value that cannot be written at all. */
function isRefusedData(error: unknown): error is Error {
  if (error instanceof RangeError || error instanceof TypeError) return true;
  if (!(error instanceof Error) || !('code' in error)) return false;
  return /^(2[23]|54)[0-9A-Z]{3}$/.test(String(error.code));
}
